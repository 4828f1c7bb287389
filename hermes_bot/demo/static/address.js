// Knows how a place is written in the page's address, so that back, reload and a bookmark lead there.

/** Read `#slack/CHANNEL/t=ROOT` or `#telegram/CHAT/TOPIC`; null where it is neither. */
export function placeOf(hash) {
  const [platform, channel = "", rest = ""] = decodeURIComponent(hash.slice(1)).split("/");
  if (platform !== "slack" && platform !== "telegram") return null;
  const thread = rest.startsWith("t=") ? rest.slice(2) : "";
  return { platform, channel, topic: thread ? "" : rest, thread };
}

/** Write where the page is into its address. */
export function showPlace(model) {
  const { platform, channel, topic } = model.place;
  const rest = model.thread ? `/t=${model.thread}` : topic ? `/${topic}` : "";
  const hash = `#${platform}/${channel}${rest}`;
  if (decodeURIComponent(location.hash) !== hash) history[location.hash ? "pushState" : "replaceState"](null, "", hash);
}
