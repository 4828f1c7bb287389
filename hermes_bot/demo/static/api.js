// Knows the server: what the page asks of it, and how it tells the page what happens.

import { toast } from "./dom.js";

const token = document.querySelector("meta[name=demo-token]").content;

async function answerOf(response) {
  const said = await response.json().catch(() => ({}));
  if (response.ok) return said;
  toast(said.error ?? "The demo did not take this. Is it still running?", "bad");
  return null;
}

async function send(path, body, more = {}) {
  try {
    return await answerOf(await fetch(path, { method: "POST", body, headers: { "X-Demo-Token": token, ...more } }));
  } catch {
    toast("The demo does not answer. Is it still running?", "bad");
    return null;
  }
}

/** Do something as a seat; null where it was refused, which the page has said then. */
export const act = (what, asked) => send(`/api/${what}`, JSON.stringify(asked), { "Content-Type": "application/json" });

/** Write a message with files. */
export function upload(asked, files) {
  const form = new FormData();
  form.set("said", JSON.stringify(asked));
  for (const file of files) form.append("file", file, file.name);
  return send("/api/upload", form);
}

export async function roundsOf(run) {
  return answerOf(await fetch(`/api/runs/${encodeURIComponent(run)}`));
}

export const fileAddress = (seat, message, file) =>
  `/api/files/${message.platform}/${message.channel}/${message.id}/${encodeURIComponent(file.id)}?seat=${seat}`;

/**
 * Listen as a seat. The server begins with everything, at each connection anew, so nothing is missed by one that
 * was lost; the browser reconnects by itself.
 */
export function listen(seat, onEvent, onConnected) {
  const source = new EventSource(`/api/events?seat=${encodeURIComponent(seat)}`);
  for (const kind of ["state", "message", "status", "typing", "runs"]) {
    source.addEventListener(kind, (event) => onEvent(kind, JSON.parse(event.data)));
  }
  source.addEventListener("open", () => onConnected(true));
  source.addEventListener("error", () => onConnected(false));
  return source;
}
