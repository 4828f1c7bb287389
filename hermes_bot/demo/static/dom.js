// Knows how elements are made: words always go in as text, so nothing that a message says is read as markup.

const PROPERTIES = new Set(["value", "hidden", "disabled", "htmlFor", "open", "selected", "files", "rows", "multiple"]);

/**
 * Make an element. Attributes that are null, undefined or false are left out; `on…` are listeners.
 * @param {string} tag
 * @param {Record<string, any>} [attributes]
 * @param {...(Node|string|null|undefined|false|Array)} children
 */
export function h(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "class") made.className = value;
    else if (name === "dataset") Object.assign(made.dataset, value);
    else if (PROPERTIES.has(name)) made[name] = value;
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

export const $ = (id) => document.getElementById(id);

const PATHS = {
  menu: ["M3 6h18M3 12h18M3 18h18"],
  close: ["M6 6l12 12M18 6L6 18"],
  send: ["M4 12l16-8-5 16-3.5-6.5z", "M11.5 13.5L20 4"],
  attach: ["M20 11.5l-8.5 8.5a5 5 0 0 1-7-7l9-9a3.5 3.5 0 0 1 5 5l-9 9a1.800 1.800 0 0 1-2.600-2.600l7.600-7.600"],
  more: ["M5 12h.01M12 12h.01M19 12h.01"],
  reply: ["M10 8L4 13l6 5", "M4 13h9a7 7 0 0 1 7 6"],
  thread: ["M4 5h16v11H10l-5 4v-4H4z", "M8 9h8M8 12.5h5"],
  hash: ["M9 4L7 20M17 4l-2 16M4 9h16.5M3.5 15H20"],
  lock: ["M6 11h12v9H6z", "M8.5 11V8a3.5 3.5 0 0 1 7 0v3"],
  person: ["M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8z", "M4.5 20.5a7.5 7.5 0 0 1 15 0"],
  people: ["M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7z", "M2.5 20a6.5 6.5 0 0 1 13 0", "M16 4.5a3.5 3.5 0 0 1 0 6.5M18 14a6.5 6.5 0 0 1 3.5 6"],
  topic: ["M4 7a2 2 0 0 1 2-2h12a2 2 0 0 1 2 2v7a2 2 0 0 1-2 2h-7l-4 4v-4H6a2 2 0 0 1-2-2z"],
  guide: ["M9 18h6M10 21h4", "M12 3a6.5 6.5 0 0 0-3.5 12V16h7v-1A6.5 6.5 0 0 0 12 3z"],
  records: ["M5 4h14v16H5z", "M8.5 8.5h7M8.5 12h7M8.5 15.5h4"],
  moon: ["M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z"],
  sun: ["M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8z", "M12 2v2.5M12 19.5V22M2 12h2.5M19.5 12H22M5 5l1.700 1.700M17.300 17.300L19 19M5 19l1.700-1.700M17.300 6.700L19 5"],
  keys: ["M3 6h18v12H3z", "M7 10h.01M11 10h.01M15 10h.01M8 14h8"],
  eye: ["M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12z", "M12 9.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z"],
  file: ["M6 3h8l4 4v14H6z", "M14 3v4h4"],
  copy: ["M9 9h11v11H9z", "M5 15H4V4h11v1"],
  check: ["M5 12.5l4.5 4.5L19 7"],
  arrow: ["M5 12h13M13 6l6 6-6 6"],
  bolt: ["M13 3L5 13.5h6L10.5 21 19 10.5h-6z"],
};

/** Make an icon; it says nothing, so whatever holds it needs a label. */
export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const [key, value] of Object.entries({ viewBox: "0 0 24 24", "aria-hidden": "true", class: "icon" })) {
    svg.setAttribute(key, value);
  }
  for (const d of PATHS[name] ?? []) {
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", d);
    svg.append(path);
  }
  svg.classList.toggle("dots", name === "more");
  return svg;
}

/** Make a button that shows only an icon. */
export function iconButton(name, label, onclick, more = {}) {
  return h("button", { type: "button", class: "icon-button", "aria-label": label, title: label, onclick, ...more }, icon(name));
}

const CLOCK = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

/** Make a moment readable; `at` is in seconds since 1970. */
export function moment(at) {
  const when = new Date(at * 1000);
  return h("time", { datetime: when.toISOString(), title: when.toLocaleString() }, CLOCK.format(when));
}

/** Make somebody's picture: initials, or the bot's sign. */
export function avatar(author) {
  if (author.kind === "bot") return h("img", { class: "avatar bot", src: "/static/mark.svg", alt: "", width: 36, height: 36 });
  const initials = author.name.split(/\s+/).map((word) => word[0] ?? "").join("");
  const letters = (initials.length > 2 ? initials[0] + initials.at(-1) : initials).toUpperCase();
  let hue = 0;
  for (const letter of author.name) hue = (hue * 31 + letter.codePointAt(0)) % 6;
  return h("span", { class: `avatar hue-${hue} ${author.kind}`, "aria-hidden": "true" }, letters);
}

/** Say something in passing. */
export function toast(text, kind = "info") {
  const shown = h("p", { class: `toast ${kind}` }, text);
  document.getElementById("toasts").append(shown);
  setTimeout(() => shown.remove(), 7000);
}

/** Show a box that has to be closed. */
export function dialog(title, content, label = "Close") {
  const opener = document.activeElement;
  const box = h("dialog", { class: "dialog", "aria-labelledby": "dialog-title" });
  box.append(
    h("h2", { id: "dialog-title" }, title),
    ...[content].flat(),
    h("form", { method: "dialog" }, h("button", { class: "primary", autofocus: true }, label)),
  );
  box.addEventListener("close", () => {
    box.remove();
    if (opener instanceof HTMLElement) opener.focus();
  });
  box.addEventListener("click", (event) => event.target === box && box.close());
  document.body.append(box);
  box.showModal();
  return box;
}
