// Knows what the page knows: what the seat sees, where it stands, what is new. Tells views by events.
//
// "state": everything is new. "message": one message came, changed or went. "busy": what is being done.
// "runs": the records. "place": another channel or thread is shown. "unread": counts.

const TYPING_MILLISECONDS = 6000;

export class Model extends EventTarget {
  constructor() {
    super();
    this.data = null;
    this.messages = new Map();
    this.place = { platform: "slack", channel: "", topic: "" };
    this.thread = "";
    this.busy = new Map();
    this.typing = new Map();
    this.unread = new Map();
    this.last = {};
    this.version = 0;
  }

  /** Take an event of the server. */
  apply(kind, told) {
    if (kind === "state") this.#begin(told);
    else if (kind === "message") this.#take(told);
    else if (kind === "status") this.#status(told);
    else if (kind === "typing") this.#typing(told);
    else if (kind === "runs") {
      this.data.runs = told.runs;
      this.#tell("runs");
    }
  }

  #begin(state) {
    this.data = state;
    this.messages.clear();
    this.busy.clear();
    for (const [platform, side] of Object.entries(state.platforms)) {
      for (const message of side.messages) this.#keep(message);
      for (const one of side.busy) this.busy.set(`${platform}/${one.channel}/${one.thread}`, one.status);
    }
    if (!this.channel) this.place = { ...this.place, ...this.#first(this.place.platform) };
    this.#tell("state");
  }

  #first(platform) {
    const { channels } = this.data.platforms[platform];
    const preferred = channels.find((one) => one.name === "incidents") ?? channels[0];
    return { platform, channel: preferred.id, topic: "" };
  }

  #keep(message) {
    const key = keyOf(message);
    const before = this.messages.get(key);
    this.messages.set(key, { ...message, key, version: ++this.version });
    return before;
  }

  #take(message) {
    const before = this.#keep(message);
    const kept = this.messages.get(keyOf(message));
    if (message.author.kind === "bot") {
      this.typing.delete(placeKey(message.platform, message.channel, message.thread));
      this.#tell("busy");
    }
    if (!before && !message.author.me && !this.isOpen(message)) {
      const key = this.unreadKey(message);
      this.unread.set(key, (this.unread.get(key) ?? 0) + 1);
      this.#tell("unread");
    }
    this.#tell("message", { message: kept, isNew: !before });
  }

  #status({ platform, channel, thread, status }) {
    const key = `${platform}/${channel}/${thread}`;
    if (status) this.busy.set(key, status);
    else this.busy.delete(key);
    this.#tell("busy");
  }

  #typing({ platform, channel, thread }) {
    const key = placeKey(platform, channel, thread);
    clearTimeout(this.typing.get(key));
    this.typing.set(key, setTimeout(() => {
      this.typing.delete(key);
      this.#tell("busy");
    }, TYPING_MILLISECONDS));
    this.#tell("busy");
  }

  #tell(what, detail) {
    this.dispatchEvent(new CustomEvent(what, { detail }));
  }

  // where we are

  get side() {
    return this.data.platforms[this.place.platform];
  }

  get channel() {
    return this.side.channels.find((one) => one.id === this.place.channel);
  }

  get seat() {
    return this.data.seats.find((one) => one.key === this.data.seat);
  }

  /** Go somewhere; the platform alone goes to where we were last there. */
  go({ platform, channel = "", topic = "" }, thread = "") {
    if (!(platform in this.data.platforms)) return;
    const known = this.data.platforms[platform].channels.some((one) => one.id === channel);
    this.last[this.place.platform] = this.place;
    const back = this.last[platform];
    const isBackThere = back && this.data.platforms[platform].channels.some((one) => one.id === back.channel);
    this.place = known ? { platform, channel, topic } : isBackThere ? back : this.#first(platform);
    this.thread = thread;
    this.#read();
    this.#tell("place");
  }

  openThread(root) {
    this.thread = root;
    this.#read();
    this.#tell("place");
  }

  #read() {
    const { platform, channel, topic } = this.place;
    this.unread.delete(placeKey(platform, channel, platform === "slack" ? "" : topic));
    this.#tell("unread");
  }

  unreadKey(message) {
    return placeKey(message.platform, message.channel, message.platform === "slack" ? "" : message.thread);
  }

  /** Whether a message stands where somebody looks just now. */
  isOpen(message) {
    const { platform, channel, topic } = this.place;
    if (message.platform !== platform || message.channel !== channel) return false;
    return platform === "slack" || message.thread === topic;
  }

  // what is there

  /** The messages of the open channel or topic; those of a thread where one is named. */
  shown(thread = "") {
    const { platform, channel, topic } = this.place;
    const here = [...this.messages.values()].filter((one) => one.platform === platform && one.channel === channel);
    if (platform === "telegram") return here.filter((one) => one.thread === topic && !one.gone);
    if (thread) return here.filter((one) => (one.id === thread || one.thread === thread) && (!one.gone || one.id === thread));
    return here.filter((one) => (!one.thread || one.thread === one.id) && (!one.gone || this.replies(one).length));
  }

  /** The replies to a message that everybody sees. */
  replies(root) {
    return this.#below(root).filter((one) => !one.onlyYou);
  }

  /** The replies to a message that this seat alone sees. */
  whispers(root) {
    return this.#below(root).filter((one) => one.onlyYou);
  }

  #below(root) {
    const all = [...this.messages.values()];
    return all.filter((one) => placeKey(one.platform, one.channel, one.thread) === keyOf(root) && one.id !== root.id && !one.gone);
  }

  status(thread) {
    return this.busy.get(`${this.place.platform}/${this.place.channel}/${thread}`) ?? "";
  }

  isTyping() {
    const { platform, channel, topic } = this.place;
    return this.typing.has(placeKey(platform, channel, topic));
  }
}

export const keyOf = (message) => `${message.platform}/${message.channel}/${message.id}`;
export const placeKey = (platform, channel, thread) => `${platform}/${channel}/${thread}`;
