// Knows how the tree of a message's text becomes elements. Kinds that are not in this list are shown as plain words.

import { h, icon, iconButton, toast } from "./dom.js";

const SIMPLE = {
  strong: "strong", emphasis: "em", strike: "s", underline: "u", code: "code", quote: "blockquote", rule: "hr",
};
const BOXES = new Set(["section", "columns", "field", "pair", "context"]);
const SAFE = /^(?:https?:|mailto:|tel:|tg:)/i;

/**
 * Make elements of nodes.
 * @param {Array} nodes texts, or [kind, attributes, ...children]
 * @param {(action: string, label: string, button: HTMLButtonElement) => void} press what a button does
 */
export function build(nodes, press) {
  return nodes.map((node) => (typeof node === "string" ? document.createTextNode(node) : element(node, press)));
}

function element([kind, attributes, ...children], press) {
  const inside = () => build(children, press);
  if (kind in SIMPLE) return h(SIMPLE[kind], {}, inside());
  if (BOXES.has(kind)) return h(attributes.inline ? "span" : "div", { class: kind }, inside());
  switch (kind) {
    case "paragraph":
      return h(attributes.inline ? "span" : "p", {}, inside());
    case "heading":
      return h("p", { class: "heading", role: "heading", "aria-level": 3, dataset: { level: attributes.level ?? "1" } }, inside());
    case "link":
      return SAFE.test(attributes.href ?? "")
        ? h("a", { href: attributes.href, target: "_blank", rel: "noopener noreferrer nofollow" }, inside())
        : h("span", {}, inside());
    case "mention":
      return h("span", { class: "mention", dataset: { who: attributes.who ?? "" } }, inside());
    case "list":
      return attributes.start ? h("ol", { start: attributes.start }, inside()) : h("ul", {}, inside());
    case "item":
      return h("li", { class: attributes.task ? "task" : null }, inside());
    case "pre":
      return code(attributes.language ?? "", inside());
    case "table":
      return table(children, press);
    case "attachment":
      return h("div", { class: `attachment ${attributes.tone ?? "plain"}` }, inside());
    case "actions":
      return h("div", { class: "actions", role: "group", "aria-label": "Choices" }, inside());
    case "button":
      return button(attributes, children.join(""), press);
    case "spoiler":
      return spoiler(inside());
    case "image":
      return h("span", { class: "picture" }, icon("file"), " ", inside());
    default:
      return h("span", { class: "unknown" }, inside());
  }
}

function button(attributes, label, press) {
  const made = h("button", { type: "button", class: `choice ${attributes.style ?? ""}` }, label);
  made.addEventListener("click", () => press(attributes.action ?? "", label, made));
  return made;
}

function spoiler(inside) {
  const made = h("button", { type: "button", class: "spoiler", "aria-expanded": "false", "aria-label": "Hidden text; press to show it" });
  made.append(...inside);
  made.addEventListener("click", () => {
    made.setAttribute("aria-expanded", "true");
    made.removeAttribute("aria-label");
  });
  return made;
}

/** Make a block of code that scrolls inside itself; it can be focused, so that arrow keys scroll it. */
function code(language, inside) {
  const pre = h("pre", { tabindex: 0, role: "region", "aria-label": language ? `Code, ${language}` : "Code" }, h("code", {}, inside));
  const copy = iconButton("copy", "Copy", async () => {
    try {
      await navigator.clipboard.writeText(pre.textContent);
      toast("Copied.");
    } catch {
      toast("This browser does not let the page copy.", "bad");
    }
  });
  return h("div", { class: "code" }, pre, copy);
}

function table(rows, press) {
  const made = h("table");
  const [head, body] = [h("thead"), h("tbody")];
  for (const [, , ...cells] of rows) {
    const row = h("tr", {}, cells.map((cell) => cellOf(cell, press)));
    (cells.every(([, attributes]) => attributes.head) ? head : body).append(row);
  }
  if (head.children.length) made.append(head);
  made.append(body);
  return h("div", { class: "table", tabindex: 0, role: "region", "aria-label": "Table" }, made);
}

function cellOf([, attributes, ...children], press) {
  const tag = attributes.head ? "th" : "td";
  return h(tag, { scope: attributes.head ? "col" : null, class: attributes.align ? `align-${attributes.align}` : null }, build(children, press));
}
