// The conversation as it was before a compaction: the latest of it first, the rest page by page.

import { get } from "../api.js";
import { el } from "../dom.js";
import { quoted, time } from "../parts.js";

const SPEAKERS = { user: "User", agent: "Agent", summary: "Earlier summary", subagent: "Subagent" };
const PAGE = 30;

/** Folded, and asked for when it is opened. */
export function conversation(route, id, epoch) {
  const list = el("ol", { class: "conversation" });
  const note = el("p", { class: "soft small", role: "status" });
  const button = el("button", { type: "button", class: "more", "data-key": "earlier", hidden: true }, "Earlier");
  let next = 0;
  let asking = false;

  async function load(limit) {
    if (asking) return;
    asking = true;
    try {
      const path = ["sessions", id, "compactions", epoch, "conversation"];
      const page = await get(path, { limit, offset: next }, route.signal);
      const height = document.documentElement.scrollHeight;
      list.prepend(...page.messages.map(drawn));
      // What was being read stays where it was.
      if (next > 0) window.scrollBy(0, document.documentElement.scrollHeight - height);
      next = page.next_offset ?? next + limit;
      route.memory.conversation = next;
      button.hidden = page.next_offset === null;
      note.textContent = list.childElementCount ? "" : "Nothing that was said is stored.";
    } catch (error) {
      if (!route.signal.aborted) note.textContent = `${error.message}.`;
    } finally {
      asking = false;
    }
  }

  button.addEventListener("click", () => load(PAGE));
  const root = el(
    "details",
    { class: "card before", "data-key": "conversation" },
    el("summary", {}, el("h2", {}, "The conversation before")),
    el("p", { class: "soft small" }, "What the agent had in front of it, since the compaction before. Secrets are removed."),
    note,
    button,
    list,
  );
  root.addEventListener("toggle", () => {
    if (root.open && next === 0) load(Math.min(route.memory.conversation ?? PAGE, 500));
  });
  return root;
}

function drawn(one) {
  const name = SPEAKERS[one.speaker];
  const key = `said:${one.row}:${one.speaker}`;
  return el(
    "li",
    { class: name ? `turn ${one.speaker}` : "turn did" },
    el("p", { class: "soft small" }, el("span", { class: "who" }, name ?? one.speaker), " ", time(one.time)),
    quoted(one.text, { key, lines: name ? 12 : 3, mono: !name }),
  );
}
