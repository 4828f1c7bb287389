// Knows a list of messages on the screen: new ones are added, changed ones replaced where they stand; it stays at
// its end while somebody reads there, and arrow keys go from message to message.

/** A list of messages. */
export class Log {
  /**
   * @param {HTMLElement} list the `ol`, in an element that is read out
   * @param {HTMLElement} scroller what scrolls it
   * @param {HTMLElement|null} jump the button that leads to its end
   */
  constructor(list, scroller, jump = null) {
    this.list = list;
    this.scroller = scroller;
    this.jump = jump;
    this.shown = new Map();
    this.sticks = true; // somebody reads at the end, and is kept there
    this.size = ""; // of what is scrolled, as it was when last looked at
    const sizes = new ResizeObserver(() => this.sticks && this.toEnd());
    sizes.observe(list);
    sizes.observe(scroller);
    list.addEventListener("keydown", (event) => this.#onKey(event));
    list.addEventListener("focusin", (event) => this.#rove(event.target.closest("li[data-key]")));
    scroller.addEventListener("scroll", () => this.#onScroll(), { passive: true });
    jump?.addEventListener("click", () => this.toEnd());
  }

  isAtEnd() {
    return this.scroller.scrollHeight - this.scroller.scrollTop - this.scroller.clientHeight < 60;
  }

  toEnd() {
    this.scroller.scrollTop = this.scroller.scrollHeight;
    this.sticks = true;
    this.#offerJump(false);
  }

  #onScroll() {
    const size = `${this.scroller.scrollHeight}/${this.scroller.clientHeight}`;
    const isResized = size !== this.size;
    this.size = size;
    if (this.sticks && isResized) return; // the page moved it, a panel that opened say: nobody scrolled away
    this.sticks = this.isAtEnd();
    if (this.sticks) this.#offerJump(false);
  }

  /** Go to the end, but no further than the beginning of a message: what is long is read from its start. */
  #reveal(element) {
    const { scroller } = this;
    const top = element.getBoundingClientRect().top - scroller.getBoundingClientRect().top + scroller.scrollTop;
    scroller.scrollTop = Math.min(scroller.scrollHeight - scroller.clientHeight, Math.max(0, top - 12));
    this.sticks = this.isAtEnd();
  }

  #offerJump(offers) {
    if (this.jump) this.jump.hidden = !offers;
  }

  /**
   * Show these messages.
   * @param {{key: string, mark: string, make: () => HTMLElement, isOwn: boolean}[]} rows `mark` says which version
   * @param {boolean} isOther another place: all is new, and nothing of it is read out
   */
  show(rows, isOther = false) {
    const { sticks } = this;
    if (isOther) {
      this.list.parentElement.setAttribute("aria-busy", "true");
      this.list.replaceChildren();
      this.shown.clear();
    }
    const { changed, isAdded } = this.#update(rows);
    if (isOther || (isAdded && rows.at(-1).isOwn)) this.toEnd();
    else if (sticks && changed) this.#reveal(changed);
    else if (isAdded) this.#offerJump(true);
    if (isOther) requestAnimationFrame(() => this.list.parentElement.setAttribute("aria-busy", "false"));
    if (!this.list.querySelector("li[tabindex='0']")) this.#rove(this.list.lastElementChild);
  }

  #update(rows) {
    const wanted = new Set(rows.map((row) => row.key));
    for (const [key, { element }] of this.shown) {
      if (wanted.has(key)) continue;
      element.remove();
      this.shown.delete(key);
    }
    let [changed, isAdded, before] = [null, false, null];
    for (const row of rows) {
      const known = this.shown.get(row.key);
      let element = known?.element;
      if (!known || known.mark !== row.mark) {
        element = row.make();
        if (known) replace(known.element, element);
        isAdded ||= !known;
        changed = element;
        this.shown.set(row.key, { element, mark: row.mark });
      }
      const next = before ? before.nextElementSibling : this.list.firstElementChild;
      if (next !== element) this.list.insertBefore(element, next);
      before = element;
    }
    return { changed, isAdded };
  }

  /** Bring a message into view and put the focus on it. */
  focus(key) {
    const element = this.shown.get(key)?.element;
    if (!element) return false;
    this.#rove(element);
    element.focus();
    element.scrollIntoView({ block: "center" });
    element.classList.add("found");
    setTimeout(() => element.classList.remove("found"), 1500);
    return true;
  }

  #rove(item) {
    if (!item || item.parentElement !== this.list) return;
    for (const one of this.list.querySelectorAll("li[tabindex='0']")) one.tabIndex = -1;
    item.tabIndex = 0;
  }

  #onKey(event) {
    if (event.target.closest("textarea, input, select, pre, .table") || event.altKey || event.ctrlKey || event.metaKey) return;
    const item = event.target.closest("li[data-key]");
    if (!item) return;
    const to = {
      ArrowDown: item.nextElementSibling, ArrowUp: item.previousElementSibling,
      Home: this.list.firstElementChild, End: this.list.lastElementChild,
    }[event.key];
    if (to) to.focus();
    else if (event.key === "Enter" && event.target === item) item.querySelector(".choice, .replies, .message-tools button")?.focus();
    else return;
    event.preventDefault();
  }
}

/** Put a new version of a message in the place of the old one; the focus stays where it was, if it can. */
function replace(old, fresh) {
  const had = old.contains(document.activeElement) ? document.activeElement : null;
  const label = had instanceof HTMLButtonElement ? had.textContent : "";
  fresh.tabIndex = old.tabIndex;
  old.replaceWith(fresh);
  if (!had) return;
  const same = label && [...fresh.querySelectorAll("button")].find((one) => one.textContent === label);
  (same || fresh).focus({ preventScroll: true });
}
