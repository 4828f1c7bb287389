// Knows the keyboard shortcuts, and the box that lists them.

import { dialog, h } from "./dom.js";

const SHORTCUTS = [
  ["?", "This list"],
  ["/", "To the message box"],
  ["Alt + 1, Alt + 2", "Slack-like, Telegram-like"],
  ["Alt + ↑, Alt + ↓", "The channel above, below"],
  ["↑ ↓ Home End", "From message to message, once one has the focus"],
  ["Enter", "To what a message offers; in the box: send"],
  ["Shift + Enter", "A new line in the box"],
  ["↑ in an empty box", "Edit your last message"],
  ["Tab", "Take a suggestion; else go on"],
  ["Alt + R", "What the bot records"],
  ["Esc", "Close the menu, the reply, the thread"],
];

/** Show the list. */
export function showKeys() {
  dialog("Keyboard shortcuts", h("dl", { class: "shortcuts" }, SHORTCUTS.map(([keys, what]) => h("div", {}, h("dt", {}, h("kbd", {}, keys)), h("dd", {}, what)))));
}

/** Listen. */
export function wireKeys({ model, go, escape, composer, records }) {
  document.addEventListener("keydown", (event) => {
    if (!model.data || document.querySelector("dialog[open]") || event.ctrlKey || event.metaKey) return;
    const isWriting = event.target instanceof Element && event.target.closest("textarea, input, select");
    if (event.key === "Escape") escape();
    else if (event.altKey && event.code === "Digit1") go({ platform: "slack" });
    else if (event.altKey && event.code === "Digit2") go({ platform: "telegram" });
    else if (event.altKey && event.code === "KeyR") records();
    else if (event.altKey && (event.key === "ArrowDown" || event.key === "ArrowUp")) step(model, go, event.key === "ArrowDown" ? 1 : -1);
    else if (!isWriting && event.key === "?") showKeys();
    else if (!isWriting && event.key === "/") composer().focus();
    else return;
    event.preventDefault();
  });
}

function step(model, go, by) {
  const { platform, channel, topic } = model.place;
  const places = model.side.channels.flatMap((one) => (one.topics.length ? one.topics.map((it) => [one.id, it.id]) : [[one.id, ""]]));
  const at = places.findIndex(([id, of]) => id === channel && of === topic);
  const [id, of] = places[(at + by + places.length) % places.length];
  go({ platform, channel: id, topic: of });
}
