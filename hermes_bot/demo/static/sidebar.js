// Knows the list of channels, or of chats with their topics.

import { h, icon } from "./dom.js";
import { placeKey } from "./model.js";

const ICONS = { channel: "hash", private: "lock", direct: "person", group: "people", forum: "people" };
const GROUPS = {
  slack: [["Channels", ["channel", "private"]], ["Direct messages", ["direct"]]],
  telegram: [["Private", ["direct"]], ["Groups", ["group", "forum"]]],
};

/**
 * Draw the list.
 * @param {HTMLElement} holder
 * @param {import("./model.js").Model} model
 * @param {(place: {platform: string, channel: string, topic: string}) => void} go
 */
export function drawSidebar(holder, model, go) {
  const { platform } = model.place;
  const had = holder.contains(document.activeElement) ? document.activeElement.dataset.place : null;
  const groups = GROUPS[platform].map(([title, kinds]) => {
    const places = model.side.channels.filter((one) => kinds.includes(one.kind));
    return h("section", {}, h("h2", {}, title), h("ul", {}, places.map((one) => entry(one, model, go))));
  });
  holder.replaceChildren(h("p", { class: "workspace" }, model.side.title), ...groups, h("p", { class: "foot" }, footText(model)));
  if (had) holder.querySelector(`[data-place="${CSS.escape(had)}"]`)?.focus();
}

function footText(model) {
  const { model: mind } = model.data.bot;
  return mind ? `The bot asks ${mind}.` : "The bot works offline, without a model.";
}

function entry(place, model, go) {
  if (place.topics.length) {
    const topics = place.topics.map((topic) => h("li", {}, link(place, topic, model, go)));
    return h("li", { class: "forum" }, h("p", { class: "forum-name" }, icon("people"), place.name), h("ul", {}, topics));
  }
  return h("li", {}, link(place, null, model, go));
}

function link(place, topic, model, go) {
  const { platform, channel, topic: open } = model.place;
  const id = topic ? topic.id : "";
  const isOpen = place.id === channel && id === open;
  const key = placeKey(platform, place.id, id);
  const unread = model.unread.get(key) ?? 0;
  return h("button", {
    type: "button", class: unread ? "to-place has-unread" : "to-place", "aria-current": isOpen ? "page" : null,
    dataset: { place: key }, onclick: () => go({ platform, channel: place.id, topic: id }),
  },
  icon(topic ? "topic" : ICONS[place.kind]),
  h("span", { class: "name" }, topic ? topic.name : place.name),
  unread > 0 && h("span", { class: "unread" }, String(unread), h("span", { class: "hidden" }, " unread")));
}
