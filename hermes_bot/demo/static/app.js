// Knows how the page is put together. Everything else is in the modules beside this one.

import { act, listen } from "./api.js";
import { Composer } from "./composer.js";
import { $, dialog, h, icon, iconButton, toast } from "./dom.js";
import { Guide } from "./guide.js";
import { showKeys, wireKeys } from "./keys.js";
import { Log } from "./log.js";
import { closeMenu } from "./menu.js";
import { slackMessage, telegramMessage } from "./message.js";
import { Model } from "./model.js";
import { drawRecords } from "./records.js";
import { drawSidebar } from "./sidebar.js";
import { placeOf, showPlace } from "./address.js";

const GROUPED_SECONDS = 300;
const WIDE_PIXELS = 1080;
const model = new Model();
const log = new Log($("log"), $("scroller"), $("jump"));
let stream = null;
let panel = ""; // "", "thread" or "records"
let threadLog = null;
let threadComposer = null;
let shownPlace = "";

const kept = (name) => { try { return localStorage.getItem(name); } catch { return null; } };
const keep = (name, value) => { try { localStorage.setItem(name, value); } catch { /* nothing is kept then */ } };

// --- who and where ---------------------------------------------------------------------------------

function sit(seat) {
  stream?.close();
  model.unread.clear();
  keep("seat", seat);
  stream = listen(seat, (kind, told) => model.apply(kind, told), (isThere) => document.body.classList.toggle("lost", !isThere));
}

function go(place, thread = "") {
  model.go(place, thread);
  document.body.classList.remove("sidebar-open");
}

const whereOf = (thread) => {
  const { platform, channel, topic } = model.place;
  return { platform, channel, thread: platform === "slack" ? thread : topic };
};

const placeName = () => {
  const topic = model.channel.topics.find((one) => one.id === model.place.topic);
  const sign = model.channel.kind === "channel" ? "#" : "";
  return topic ? `${model.channel.name} › ${topic.name}` : `${sign}${model.channel.name}`;
};

const lastOwn = (thread) => model.shown(thread).filter((one) => one.author.me).at(-1);

const composer = new Composer($("composer"), {
  model, id: "composer-text", where: () => whereOf(""), onSeat: sit,
  placeLabel: () => `Message ${placeName()}`, lastOwn: () => lastOwn(""),
  onSent: (text) => { guide.tried(text); log.toEnd(); },
});

const guide = new Guide($("guide"), model, (step) => {
  go({ platform: model.place.platform, channel: step.channel, topic: step.topic });
  if (!step.act) composer.fill(step.text);
  else act(step.act, { seat: model.data.seat, platform: model.place.platform, channel: step.channel }).then((done) => done && guide.tried(step.text));
});

// --- what a message can do --------------------------------------------------------------------------

const asked = (message, more = {}) => ({ seat: model.data.seat, platform: message.platform, channel: message.channel, message: message.id, ...more });

const acts = {
  seat: () => model.data.seat,
  async press(message, action, button) {
    const group = [...button.closest(".actions").querySelectorAll("button")];
    for (const one of group) one.disabled = true;
    button.classList.add("pressed");
    const answer = await act("press", asked(message, { action }));
    if (answer?.alert) dialog("The bot says", h("p", {}, answer.notice));
    else if (answer?.notice) toast(answer.notice);
    setTimeout(() => { for (const one of group) one.disabled = false; }, answer ? 3000 : 0);
  },
  reply: (message) => composer.replyTo(message),
  edit: (message, inThread) => (inThread ? threadComposer : composer).edit(message),
  remove: (message) => act("delete", asked(message)),
  ask: (message) => act("shortcut", asked(message)),
  async copy(message) {
    try {
      await navigator.clipboard.writeText(message.source);
      toast("Copied.");
    } catch {
      toast("This browser does not let the page copy.", "bad");
    }
  },
  openThread(message) {
    openPanel("thread");
    model.openThread(message.thread && message.thread !== message.id ? message.thread : message.id);
    threadComposer.focus();
  },
  jump: (id) => log.focus(`${model.place.platform}/${model.place.channel}/${id}`),
};

// --- drawing ------------------------------------------------------------------------------------------

function rows(thread = "") {
  const isSlack = model.place.platform === "slack";
  let before = null;
  return model.shown(thread).map((message) => {
    const replies = isSlack && !thread ? model.replies(message) : [];
    const whispers = isSlack && !thread ? model.whispers(message) : [];
    const status = isSlack && !thread ? model.status(message.id) : "";
    const compact = isGrouped(before, message);
    before = message;
    const around = { compact, inThread: Boolean(thread), replies, whispers, status };
    return {
      key: message.key, isOwn: message.author.me,
      mark: [message.version, compact, replies.length, replies.at(-1)?.version, whispers.length, status].join("|"),
      make: () => (isSlack ? slackMessage : telegramMessage)(message, around, acts),
    };
  });
}

function isGrouped(before, message) {
  return Boolean(before) && !before.gone && before.author.id === message.author.id && before.onlyYou === message.onlyYou
    && message.at - before.at < GROUPED_SECONDS && !message.replyTo;
}

function drawPlace() {
  const { platform, channel, topic } = model.place;
  $("toasts").replaceChildren();
  document.body.dataset.platform = platform;
  for (const one of document.querySelectorAll(".switch button")) one.setAttribute("aria-pressed", String(one.dataset.platform === platform));
  const kind = { private: "lock", direct: "person", group: "people", forum: "people" }[model.channel.kind];
  $("place-name").replaceChildren(kind ? icon(kind) : "", placeName());
  $("place-about").textContent = model.channel.about;
  document.title = `${placeName()} · hermes-bot demo`;
  const name = `${platform}/${channel}/${topic}/${model.data.seat}`;
  if (name !== shownPlace) composer.cancel();
  drawLog(name !== shownPlace);
  shownPlace = name;
  if (model.thread && platform === "slack") openPanel("thread");
  else if (panel === "thread") closePanel();
  drawPanel();
  drawSidebar($("sidebar"), model, go);
  composer.refresh();
  guide.draw();
  showPlace(model);
}

function drawLog(isOther = false) {
  log.show(rows(), isOther);
  $("typing").textContent = model.place.platform === "telegram" && model.isTyping() ? "hermes is typing…" : "";
  const { state, why } = model.data.bot.platforms[model.place.platform];
  $("banner").hidden = state !== "off";
  $("banner").textContent = state === "off" ? `The bot is not on this platform: ${why}` : "";
}

function openPanel(which) {
  if (panel === which) return;
  panel = which;
  $("side").hidden = false;
  document.body.classList.add("panel-open");
  $("show-records").setAttribute("aria-expanded", String(which === "records"));
  if (which === "thread") makeThread();
  else makeRecords();
}

function closePanel() {
  if (!panel) return false;
  const root = panel === "thread" && model.thread;
  panel = "";
  threadLog = threadComposer = null;
  $("side").replaceChildren();
  $("side").hidden = true;
  document.body.classList.remove("panel-open");
  $("show-records").setAttribute("aria-expanded", "false");
  if (root) {
    model.openThread("");
    log.focus(`slack/${model.place.channel}/${root}`);
  }
  return true;
}

function panelHead(title, about) {
  return h("header", { class: "place" }, h("div", {}, h("h2", {}, title), h("p", {}, about)),
    iconButton("close", `Close ${title.toLowerCase()}`, () => { const was = panel; closePanel(); if (was === "records") $("show-records").focus(); }));
}

function makeThread() {
  const list = h("ol", { class: "log" });
  const live = h("div", { role: "log", "aria-live": "polite", "aria-relevant": "additions", "aria-label": "Messages of the thread" }, list);
  const status = h("p", { class: "typing", id: "thread-status", role: "status" });
  const scroller = h("div", { class: "scroller" }, live, status);
  const holder = h("div", {});
  $("side").replaceChildren(panelHead("Thread", `in ${placeName()}`), scroller, holder);
  $("side").setAttribute("aria-label", "Thread");
  threadLog = new Log(list, scroller);
  threadComposer = new Composer(holder, {
    model, id: "thread-text", where: () => whereOf(model.thread), onSeat: sit, placeLabel: () => "Reply in the thread",
    lastOwn: () => lastOwn(model.thread), onSent: (text) => { guide.tried(text); threadLog?.toEnd(); },
  });
}

function makeRecords() {
  $("side").replaceChildren(panelHead("What the bot records", "Runs of all seats, as its operator sees them"), h("div", { class: "scroller", id: "records" }));
  $("side").setAttribute("aria-label", "What the bot records");
}

let drawnThread = "";

function drawPanel() {
  if (panel === "records") {
    drawRecords($("records"), model, (run) => {
      go({ platform: run.platform, channel: run.channel, topic: "" }, run.platform === "slack" ? run.thread : "");
    });
  } else if (panel === "thread") {
    const name = `${model.place.channel}/${model.thread}/${model.data.seat}`;
    threadLog.show(rows(model.thread), name !== drawnThread || !threadLog.shown.size);
    drawnThread = name;
    const status = model.status(model.thread);
    $("thread-status").textContent = status ? `hermes ${status}` : "";
    threadComposer.refresh();
  }
}

// --- what happens --------------------------------------------------------------------------------------

model.addEventListener("state", () => {
  if (model.data.start !== document.querySelector("meta[name=demo-start]").content) {
    location.reload(); // the demo was started anew, and this page is the old one's
    return;
  }
  if (!shownPlace) {
    const wanted = placeOf(location.hash);
    if (wanted) model.go(wanted, wanted.thread);
  } else if (model.thread && !model.shown(model.thread).length) model.thread = "";
  shownPlace = "";
  drawPlace();
});
model.addEventListener("place", drawPlace);
model.addEventListener("unread", () => drawSidebar($("sidebar"), model, go));
model.addEventListener("runs", drawPanel);
model.addEventListener("busy", () => { drawLog(); drawPanel(); });
model.addEventListener("message", ({ detail: { message, isNew } }) => {
  if (message.platform !== model.place.platform || message.channel !== model.place.channel) return;
  if (isNew && isAnswerToMe(message)) model.openThread(message.thread);
  drawLog();
  drawPanel();
  const isForMe = message.replyTo === null ? model.channel.kind === "direct" : model.messages.get(`${message.platform}/${message.channel}/${message.replyTo.id}`)?.author.me;
  if (message.asks && isForMe && isNew && !composer.text.value) composer.replyTo(message);
});

/** Whether the bot answers what this seat wrote, and there is room to show the thread beside it. */
function isAnswerToMe(message) {
  const root = model.messages.get(`slack/${message.channel}/${message.thread}`);
  return message.platform === "slack" && message.author.kind === "bot" && Boolean(root?.author.me) && !panel
    && model.replies(root).length + model.whispers(root).length === 1 && innerWidth > WIDE_PIXELS;
}

// --- the bar on top, keys --------------------------------------------------------------------------------

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  keep("theme", theme);
  drawTheme();
}

const isDark = () => (document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";

function drawTheme() {
  const to = isDark() ? "Light colours" : "Dark colours";
  $("toggle-theme").replaceChildren(icon(isDark() ? "sun" : "moon"));
  $("toggle-theme").setAttribute("aria-label", to);
}

function escape() {
  if (closeMenu()) return;
  if (document.body.classList.contains("sidebar-open")) toggleSidebar();
  else closePanel();
}

function toggleSidebar() {
  const isOpen = document.body.classList.toggle("sidebar-open");
  $("open-sidebar").setAttribute("aria-expanded", String(isOpen));
  if (isOpen) $("sidebar").querySelector("[aria-current]")?.focus();
  else $("open-sidebar").focus();
}

function toggleRecords() {
  if (panel === "records") closePanel();
  else {
    openPanel("records");
    drawPanel();
    $("side").querySelector("button").focus();
  }
}

for (const [id, name] of [["open-sidebar", "menu"], ["show-guide", "guide"], ["show-records", "records"], ["show-keys", "keys"]]) $(id).append(icon(name));
$("open-sidebar").addEventListener("click", toggleSidebar);
$("show-guide").addEventListener("click", () => { guide.toggle(); $("scroller").scrollTop = 0; });
$("show-records").addEventListener("click", toggleRecords);
$("show-keys").addEventListener("click", showKeys);
$("toggle-theme").addEventListener("click", () => setTheme(isDark() ? "light" : "dark"));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawTheme);
for (const one of document.querySelectorAll(".switch button")) one.addEventListener("click", () => go({ platform: one.dataset.platform }));
addEventListener("hashchange", () => {
  const wanted = placeOf(location.hash);
  if (wanted && model.data) go(wanted, wanted.thread);
});
document.addEventListener("pointerdown", (event) => {
  if (document.body.classList.contains("sidebar-open") && !event.target.closest(".sidebar, #open-sidebar")) toggleSidebar();
});
wireKeys({ model, go, escape, composer: () => (panel === "thread" ? threadComposer : composer), records: toggleRecords });
drawTheme();
const seats = document.body.dataset.seats.trim().split(" ");
sit(seats.includes(kept("seat")) ? kept("seat") : seats[0]);
