// Knows what a box completes: commands after a slash, the bot's name after an at sign. A listbox under the rules of
// the combobox pattern: the focus stays in the text, arrow keys choose.

import { h } from "./dom.js";

let count = 0;

/** The list that comes up over a text field. */
export class Completion {
  /**
   * @param {HTMLTextAreaElement} text
   * @param {() => import("./model.js").Model} model
   */
  constructor(text, model) {
    this.text = text;
    this.model = model;
    this.id = `completion-${++count}`;
    this.list = h("ul", { class: "completion", id: this.id, role: "listbox", "aria-label": "Suggestions", hidden: true });
    text.after(this.list);
    for (const [name, value] of Object.entries({ role: "combobox", "aria-autocomplete": "list", "aria-controls": this.id, "aria-expanded": "false" })) {
      text.setAttribute(name, value);
    }
    text.addEventListener("blur", () => this.close());
    this.options = [];
    this.at = 0;
  }

  /** Offer what fits what stands before the cursor. */
  offer() {
    const before = this.text.value.slice(0, this.text.selectionStart);
    const word = /(?:^|\s)(@\w*)$/.exec(before)?.[1] ?? (/^\/[^\n]*$/.test(before) ? before : "");
    this.word = word;
    const known = word ? this.#known(word) : [];
    const isWhole = known.some((one) => one.text === word);
    this.options = isWhole ? [] : known.filter((one) => one.text.toLowerCase().startsWith(word.toLowerCase()));
    this.at = 0;
    this.#draw();
  }

  #known(word) {
    const { side, place } = this.model();
    if (word.startsWith("@")) return [{ text: side.bot, about: "the bot" }];
    return side.commands[place.channel] ?? [];
  }

  #draw() {
    this.list.replaceChildren(...this.options.slice(0, 9).map((one, at) =>
      h("li", { role: "option", id: `${this.id}-${at}`, "aria-selected": String(at === this.at), onmousedown: (event) => { event.preventDefault(); this.#take(one); } },
        h("span", { class: "what" }, one.text), h("span", { class: "about" }, one.about))));
    const isOpen = this.options.length > 0;
    this.list.hidden = !isOpen;
    this.text.setAttribute("aria-expanded", String(isOpen));
    if (isOpen) this.text.setAttribute("aria-activedescendant", `${this.id}-${this.at}`);
    else this.text.removeAttribute("aria-activedescendant");
  }

  close() {
    this.options = [];
    this.#draw();
  }

  /** Take a key if the list is open and the key is for it. */
  takes(event) {
    if (!this.options.length) return false;
    const last = Math.min(this.options.length, 9) - 1;
    if (event.key === "ArrowDown") this.at = this.at === last ? 0 : this.at + 1;
    else if (event.key === "ArrowUp") this.at = this.at === 0 ? last : this.at - 1;
    else if (event.key === "Tab" || (event.key === "Enter" && !event.shiftKey)) this.#take(this.options[this.at]);
    else if (event.key === "Escape") this.close();
    else return false;
    event.preventDefault();
    event.stopPropagation();
    this.#draw();
    return true;
  }

  #take(one) {
    const { value, selectionStart } = this.text;
    const start = selectionStart - this.word.length;
    const made = `${value.slice(0, start)}${one.text} `;
    this.text.value = made + value.slice(selectionStart);
    this.text.setSelectionRange(made.length, made.length);
    this.close();
    this.text.dispatchEvent(new Event("input"));
    this.close();
  }
}
