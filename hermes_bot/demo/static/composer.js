// Knows the box one writes in: as whom, with which files, in answer to what, and what it completes.

import { act, upload } from "./api.js";
import { Completion } from "./completion.js";
import { avatar, h, icon, iconButton } from "./dom.js";

const MOST_ROWS_PIXELS = 220;

/** A box to write in. */
export class Composer {
  /**
   * @param {HTMLElement} holder
   * @param {object} given
   * @param {import("./model.js").Model} given.model
   * @param {string} given.id of the text field
   * @param {() => object} given.where what the server needs to know of the place
   * @param {() => string} given.placeLabel what a message goes to, in words
   * @param {() => object|undefined} given.lastOwn the newest message of one's own here
   * @param {(seat: string) => void} given.onSeat somebody else is to write
   * @param {(text: string) => void} given.onSent
   */
  constructor(holder, given) {
    Object.assign(this, given);
    this.files = [];
    this.reply = null;
    this.editing = null;
    this.#make(holder);
    this.completion = new Completion(this.text, () => this.model);
    this.refresh();
  }

  #make(holder) {
    this.text = h("textarea", {
      id: this.id, rows: 1, autocomplete: "off", spellcheck: "true", "aria-describedby": `${this.id}-hint`,
      oninput: () => this.#onInput(), onkeydown: (event) => this.#onKey(event), onpaste: (event) => this.#onPaste(event),
    });
    this.label = h("label", { class: "hidden", htmlFor: this.id });
    this.above = h("div", { class: "above", hidden: true });
    this.picker = h("input", { type: "file", multiple: true, class: "hidden", tabindex: -1, "aria-hidden": "true", onchange: () => this.#add(this.picker.files) });
    this.seat = h("select", { class: "seat", "aria-label": "Write as", onchange: () => this.onSeat(this.seat.value) });
    this.face = h("span", { class: "face" });
    this.sender = iconButton("send", "Send", () => this.send(), { class: "icon-button send" });
    const as = h("div", { class: "as" }, this.face, h("span", { class: "as-label", "aria-hidden": "true" }, "Write as"), this.seat);
    const bar = h("div", { class: "bar" }, iconButton("attach", "Attach files", () => this.picker.click()), as, this.sender);
    this.may = h("span", { class: "may" });
    const hint = h("p", { class: "hint", id: `${this.id}-hint` }, this.may, h("span", { class: "only-wide" }, "Enter sends, Shift+Enter begins a line"));
    const box = h("div", { class: "box" }, this.above, this.label, this.text, this.picker, bar);
    box.addEventListener("dragover", (event) => event.preventDefault());
    box.addEventListener("drop", (event) => {
      event.preventDefault();
      this.#add(event.dataTransfer.files);
    });
    holder.replaceChildren(h("div", { class: "composer" }, box, hint));
    this.holder = holder;
  }

  /** Follow the seat and the place. */
  refresh() {
    const { data } = this.model;
    if (!data) return;
    this.seat.replaceChildren(...data.seats.map((one) =>
      h("option", { value: one.key, selected: one.key === data.seat }, `${one.name} (${one.role === "nobody" ? "no access" : one.role})`)));
    this.may.textContent = this.model.seat.may;
    this.face.replaceChildren(avatar({ name: this.model.seat.name, kind: "person" }));
    this.label.textContent = this.placeLabel();
    this.text.placeholder = this.placeLabel();
  }

  /** Put a text in, to be sent or changed. */
  fill(text) {
    this.text.value = text;
    this.#grow();
    this.text.focus();
    this.text.setSelectionRange(text.length, text.length);
    this.completion.close();
  }

  focus() {
    this.text.focus();
  }

  replyTo(message) {
    this.#forget();
    this.reply = message;
    this.#showAbove(`Reply to ${message.author.name}`, message.source);
    this.focus();
  }

  edit(message) {
    this.#forget();
    this.editing = message;
    this.#showAbove("Edit your message", "");
    this.fill(message.source);
  }

  /** Go back to a new message; says whether there was anything else. */
  cancel() {
    const was = Boolean(this.reply || this.editing);
    if (this.editing) this.fill("");
    this.#forget();
    return was;
  }

  #forget() {
    this.reply = this.editing = null;
    this.#draw();
  }

  #showAbove(title, text) {
    this.banner = { title, text };
    this.#draw();
  }

  #draw() {
    const parts = [];
    if (this.reply || this.editing) {
      parts.push(h("div", { class: "answering" }, icon("reply"),
        h("p", {}, h("strong", {}, this.banner.title), h("span", {}, this.banner.text)),
        iconButton("close", "Cancel", () => { this.cancel(); this.focus(); })));
    }
    for (const file of this.files) {
      parts.push(h("div", { class: "pending" }, icon("file"), h("span", {}, file.name),
        iconButton("close", `Remove ${file.name}`, () => { this.files = this.files.filter((one) => one !== file); this.#draw(); this.focus(); })));
    }
    this.above.replaceChildren(...parts);
    this.above.hidden = !parts.length;
  }

  #add(files) {
    this.files = [...this.files, ...files].slice(0, 10);
    this.picker.value = "";
    this.#draw();
    this.focus();
  }

  #onPaste(event) {
    if (event.clipboardData.files.length) {
      event.preventDefault();
      this.#add(event.clipboardData.files);
    }
  }

  #onInput() {
    this.#grow();
    this.completion.offer();
  }

  #grow() {
    this.text.style.height = "auto";
    this.text.style.height = `${Math.min(this.text.scrollHeight, MOST_ROWS_PIXELS)}px`;
  }

  #onKey(event) {
    if (event.isComposing || this.completion.takes(event)) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      this.send();
    } else if (event.key === "Escape" && this.cancel()) {
      event.stopPropagation();
    } else if (event.key === "ArrowUp" && !this.text.value) {
      const own = this.lastOwn();
      if (own) {
        event.preventDefault();
        this.edit(own);
      }
    }
  }

  async send() {
    const text = this.text.value;
    if (!text.trim() && !this.files.length) return;
    const asked = { ...this.where(), seat: this.model.data.seat, text };
    if (this.reply) asked.reply_to = this.reply.id;
    const kept = { files: this.files, reply: this.reply, editing: this.editing };
    this.files = [];
    this.fill("");
    this.#forget();
    const done = await this.#deliver(asked, kept);
    if (!done) {
      this.files = kept.files;
      this.fill(text);
      this.#draw();
    } else if (!kept.editing) this.onSent(text);
  }

  #deliver(asked, { files, editing }) {
    if (editing) {
      const { seat, platform, channel, text } = asked;
      return act("edit", { seat, platform, channel, text, message: editing.id });
    }
    if (files.length) return upload(asked, files);
    return act(asked.text.startsWith("/") ? "slash" : "say", asked);
  }
}
