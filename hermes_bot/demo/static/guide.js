// Knows what a newcomer is shown first: what to try, one click away, ticked off once it was tried.

import { h, icon, iconButton } from "./dom.js";

const DONE = "guide-done";
const HIDDEN = "guide-hidden";

const kept = (name) => {
  try { return localStorage.getItem(name); } catch { return null; }
};
const keep = (name, value) => {
  try { localStorage.setItem(name, value); } catch { /* a browser that stores nothing shows it again */ }
};

/** The card with what to try. */
export class Guide {
  /**
   * @param {HTMLElement} holder
   * @param {import("./model.js").Model} model
   * @param {(step: object) => void} start go to a step's place and fill its text in, or do it
   */
  constructor(holder, model, start) {
    Object.assign(this, { holder, model, start });
    this.done = new Set();
    this.isHidden = kept(HIDDEN) === "yes";
  }

  toggle() {
    this.isHidden = !this.isHidden;
    keep(HIDDEN, this.isHidden ? "yes" : "no");
    this.draw();
    if (!this.isHidden) this.holder.querySelector("button.step")?.focus();
  }

  /** Tick what was just written. */
  tried(text) {
    const { platform } = this.model.place;
    this.done.add(`${DONE}/${platform}/${text.trim()}`);
    this.draw();
  }

  draw() {
    if (this.isHidden) {
      this.holder.replaceChildren();
      return;
    }
    const { platform } = this.model.place;
    const steps = this.model.data.guide[platform].map((step) => this.#step(step, platform));
    const hint = platform === "slack"
      ? "Then press a button of its question, open a message’s menu and choose “Ask about this”, or write as the product manager, who has no access."
      : "Then answer its question by typing, reply to one of its messages, or write as the product manager, who has no access.";
    this.holder.replaceChildren(h("section", { class: "guide", "aria-label": "What to try" },
      h("h2", {}, "Checkout is failing. Ask the bot why."),
      h("p", {}, "This is the real bot with its real adapter; only the platform around it is simulated, on this machine."),
      h("ul", {}, steps), h("p", { class: "then" }, hint),
      iconButton("close", "Hide what to try", () => this.toggle())));
  }

  #step(step, platform) {
    const isDone = this.done.has(`${DONE}/${platform}/${step.text}`);
    return h("li", {}, h("button", { type: "button", class: isDone ? "step done" : "step", onclick: () => this.start(step) },
      h("span", { class: "tick", "aria-hidden": "true" }, icon(isDone ? "check" : "arrow")),
      h("span", {}, h("strong", {}, step.title), isDone && h("span", { class: "hidden" }, " (tried)"), h("code", {}, step.text))));
  }
}
