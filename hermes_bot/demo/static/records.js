// Knows the panel with the bot's own records: its runs as its journal has them, read only.

import { roundsOf } from "./api.js";
import { h, moment } from "./dom.js";

const WORDS = { queued: "queued", running: "at work", waiting: "waits for an answer", finished: "finished", stopped: "stopped", failed: "failed", cancelled: "cancelled" };

/** Draw the runs; those that were open stay open. */
export function drawRecords(holder, model, show) {
  const open = new Set([...holder.querySelectorAll("details[open]")].map((one) => one.dataset.run));
  const had = document.activeElement?.closest?.("details")?.dataset.run;
  const { runs } = model.data;
  if (!runs.length) {
    holder.replaceChildren(h("p", { class: "empty" }, "No runs yet. Ask the bot something, and each step it takes is written down here."));
    return;
  }
  holder.replaceChildren(h("ul", { class: "runs" }, runs.map((run) => h("li", {}, runCard(run, open.has(run.id), show)))));
  if (had) holder.querySelector(`details[data-run="${CSS.escape(had)}"] summary`)?.focus();
}

function runCard(run, isOpen, show) {
  const rounds = h("div", { class: "rounds" }, h("p", {}, "Reading…"));
  const made = h("details", { open: isOpen, dataset: { run: run.id } },
    h("summary", {},
      h("span", { class: `state ${run.status}` }, WORDS[run.status] ?? run.status),
      h("span", { class: "task" }, run.text),
      h("small", {}, run.id, " · ", run.rounds === 1 ? "1 round" : `${run.rounds} rounds`, " · ", moment(run.at))),
    rounds,
    h("button", { type: "button", class: "quiet", onclick: () => show(run) }, "Show in its conversation"));
  const fill = async () => {
    const found = made.open && await roundsOf(run.id);
    if (found) rounds.replaceChildren(...roundList(found));
  };
  made.addEventListener("toggle", fill);
  return made;
}

function roundList(found) {
  const reason = found.reason ? [h("p", { class: "reason" }, `Ended by: ${found.reason}`)] : [];
  return [h("ol", {}, found.rounds.map((one) => h("li", {},
    one.thought && h("p", { class: "thought" }, one.thought),
    h("p", {}, h("code", {}, one.call || "…"), " ", h("span", { class: `result ${one.status}` }, one.status || "open"), ` ${one.ms} ms`),
    one.steps.length > 0 && h("ul", { class: "steps" }, one.steps.map((step) => h("li", {}, step)))))), ...reason];
}
