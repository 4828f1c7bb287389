// Knows how one message looks, in either view.

import { fileAddress } from "./api.js";
import { avatar, h, icon, iconButton, moment } from "./dom.js";
import { openMenu } from "./menu.js";
import { build } from "./nodes.js";

/**
 * What a message can do; each acts on the message.
 * @typedef {{seat: () => string, press: Function, reply: Function, edit: Function, remove: Function, ask: Function,
 *   openThread: Function, jump: Function}} Acts
 */

/**
 * Make a message of the Slack-like view.
 * @param {object} message
 * @param {{compact: boolean, inThread: boolean, replies: object[], whispers: object[], status: string}} around
 * @param {Acts} acts
 */
export function slackMessage(message, around, acts) {
  const item = frame(message, around.compact ? "message compact" : "message");
  if (message.gone) {
    item.append(h("div", { class: "gone" }, "This message was deleted."), footer(message, around, acts) ?? "");
    return item;
  }
  item.append(
    h("div", { class: "gutter" }, around.compact ? moment(message.at) : avatar(message.author)),
    h("div", { class: "content" },
      message.onlyYou && h("p", { class: "only-you" }, icon("eye"), "Only visible to you"),
      !around.compact && h("p", { class: "by" }, h("strong", {}, message.author.name), badge(message.author), moment(message.at)),
      body(message, acts),
      files(message, acts),
      footer(message, around, acts),
    ),
    tools(message, around, acts),
  );
  return item;
}

/** Make a message of the Telegram-like view. */
export function telegramMessage(message, around, acts) {
  const side = message.author.me ? "mine" : "theirs";
  const item = frame(message, `message ${side}${around.compact ? " compact" : ""}`);
  const bubble = h("div", { class: "bubble" },
    !message.author.me && !around.compact && h("p", { class: "by" }, h("strong", {}, message.author.name), badge(message.author)),
    message.replyTo && quoted(message.replyTo, acts),
    body(message, acts),
    files(message, acts),
    h("p", { class: "when" }, message.edited && "edited ", moment(message.at)),
  );
  const stack = h("div", { class: "content" }, bubble, keyboard(message, acts));
  if (side === "theirs") item.append(h("div", { class: "gutter" }, around.compact ? "" : avatar(message.author)));
  item.append(stack, tools(message, around, acts));
  return item;
}

function frame(message, kind) {
  const whose = message.onlyYou ? `${kind} private` : kind;
  return h("li", { class: whose, tabindex: -1, dataset: { key: message.key, author: message.author.kind } });
}

const badge = (author) => author.kind !== "person" && h("span", { class: "badge" }, author.kind === "bot" ? "bot" : "app");

function body(message, acts) {
  const made = h("div", { class: "body" }, build(message.body, (action, label, button) => acts.press(message, action, button)));
  if (message.edited && message.platform === "slack") {
    const last = made.lastElementChild;
    (last?.tagName === "P" ? last : made).append(h("span", { class: "edited" }, " (edited)"));
  }
  return made;
}

function quoted(found, acts) {
  return h("button", { type: "button", class: "quoted", onclick: () => acts.jump(found.id) },
    h("strong", {}, found.name), h("span", {}, found.text));
}

function keyboard(message, acts) {
  if (!message.buttons.length) return null;
  const rows = message.buttons.map((row) => h("div", { class: "row" }, row.map((one) => key(message, one, acts))));
  return h("div", { class: "keyboard actions", role: "group", "aria-label": "Choices" }, rows);
}

function key(message, { label, action, url }, acts) {
  if (url) return h("a", { class: "choice", href: url, target: "_blank", rel: "noopener noreferrer nofollow" }, label);
  const made = h("button", { type: "button", class: "choice" }, label);
  made.addEventListener("click", () => acts.press(message, action, made));
  return made;
}

function files(message, acts) {
  if (!message.files.length) return null;
  return h("ul", { class: "files", "aria-label": "Files" }, message.files.map((file) => h("li", {}, fileCard(message, file, acts))));
}

function fileCard(message, file, acts) {
  const address = fileAddress(acts.seat(), message, file);
  const name = h("a", { href: address, download: file.name }, file.name);
  const head = h("div", { class: "file-head" }, icon("file"), h("div", {}, name, h("small", {}, size(file.size))));
  if (/^image\/(png|jpeg|gif|webp)$/.test(file.kind)) {
    return h("div", { class: "file" }, head, h("img", { src: address, alt: file.about || file.name, loading: "lazy" }));
  }
  return h("div", { class: "file" }, head, isText(file) && preview(address, file.name));
}

const isText = (file) => /^text\/|json|yaml|xml|csv/.test(file.kind) || /\.(txt|log|md|csv|json|ya?ml|toml)$/i.test(file.name);

/** Show the beginning of a text file once somebody wants to see it. */
function preview(address, name) {
  const shown = h("pre", { tabindex: 0, role: "region", "aria-label": `Beginning of ${name}` });
  const made = h("details", { class: "preview" }, h("summary", {}, "Preview"), shown);
  made.addEventListener("toggle", async () => {
    if (!made.open || shown.textContent) return;
    const response = await fetch(`${address}&look=1`);
    shown.textContent = response.ok ? await response.text() : "This file cannot be shown.";
  });
  return made;
}

const size = (bytes) => (bytes < 1024 ? `${bytes} B` : bytes < 1048576 ? `${(bytes / 1024).toFixed(1)} KB` : `${(bytes / 1048576).toFixed(1)} MB`);

/** What stands under a message of a channel: its replies, and what is being done about it. */
function footer(message, around, acts) {
  if (around.inThread || message.onlyYou) return null;
  const { replies, whispers, status } = around;
  if (!replies.length && !whispers.length && !status) return null;
  const people = [...new Map(replies.map((one) => [one.author.id, one.author])).values()].slice(0, 3);
  const count = replies.length === 1 ? "1 reply" : `${replies.length} replies`;
  return h("button", { type: "button", class: "replies", onclick: () => acts.openThread(message) },
    people.map(avatar),
    replies.length > 0 && h("strong", {}, count),
    whispers.length > 0 && h("span", { class: "only-you" }, icon("eye"), whispers.length === 1 ? "1 only visible to you" : `${whispers.length} only visible to you`),
    status ? h("span", { class: "working" }, status) : replies.length > 0 && h("span", { class: "last" }, "last at ", moment(replies.at(-1).at)));
}

/** The buttons that come up beside a message: the usual thing at once, all else in a menu. */
function tools(message, around, acts) {
  if (message.gone) return "";
  const made = h("div", { class: "message-tools" });
  const direct = directOf(message, around, acts);
  if (direct) made.append(iconButton(direct.icon, direct.label, direct.run, { class: "icon-button direct" }));
  const entries = menuOf(message, around, acts);
  if (entries.length) {
    const more = iconButton("more", "More actions", () => openMenu(more, entries), { "aria-haspopup": "menu", "aria-expanded": "false" });
    made.append(more);
  }
  return made;
}

function directOf(message, around, acts) {
  if (message.platform === "telegram") return { icon: "reply", label: "Reply", run: () => acts.reply(message) };
  return around.inThread || message.onlyYou ? null : { icon: "thread", label: "Reply in thread", run: () => acts.openThread(message) };
}

function menuOf(message, around, acts) {
  const isOwn = message.author.me;
  return [
    message.platform === "slack" && !message.onlyYou && { label: "Ask about this", icon: "bolt", run: () => acts.ask(message) },
    directOf(message, around, acts),
    isOwn && { label: "Edit", run: () => acts.edit(message, around.inThread) },
    isOwn && { label: "Delete", run: () => acts.remove(message), style: "danger" },
    { label: "Copy text", run: () => acts.copy(message) },
  ].filter(Boolean);
}
