// Search across everything that was known and said.

import { get } from "../api.js";
import { el } from "../dom.js";
import { allProjects, chip, empty, heading, labelled, paged, time } from "../parts.js";
import { KINDS, kindName } from "../words.js";

const WHO = {
  user: "The user said",
  agent: "The agent said",
  summary: "A summary said",
  subagent: "A subagent said",
  ran: "Ran",
  failed: "Failed",
  edited: "Edited",
  plan: "Plan",
  task: "Task",
};
const EXACT = new Set(["file", "command", "identifier"]);
const LONGEST = 200;
const STATUS = {
  open: "open",
  done: "done",
  cancelled: "cancelled",
  superseded: "superseded",
  resolved: "resolved",
};

export async function search(route) {
  const words = route.query.get("q") ?? "";
  const kind = route.query.get("kind") ?? "";
  const projectId = route.query.get("project") ?? "";
  const projects = await allProjects(route.signal);
  const field = document.getElementById("find-words");
  if (document.activeElement !== field) field.value = words;
  return {
    title: words ? `“${words}”` : "Search",
    matters: () => false, // results that move under a reader's eyes help nobody
    body: [
      heading(words ? "Search results" : "Search all history"),
      form(words, kind, projectId, projects),
      el(
        "section",
        { class: "card", "aria-label": "Results" },
        words
          ? await hits(route, words, kind, projectId)
          : empty(
              "Search for a rule, a file, an error message.",
              "Searches facts and messages of all sessions.",
            ),
      ),
    ],
  };
}

function form(words, kind, projectId, projects) {
  const q = el("input", { id: "q", type: "search", value: words, maxlength: 500, "data-key": "q" });
  const kinds = el(
    "select",
    { id: "kind", "data-key": "kind" },
    el("option", { value: "" }, "Everything"),
    el("option", { value: "message", selected: kind === "message" }, "Messages"),
    Object.entries(KINDS).map(([name, [, many]]) =>
      el("option", { value: name, selected: kind === name }, many),
    ),
  );
  const where = el(
    "select",
    { id: "where", "data-key": "where" },
    el("option", { value: "" }, "All projects"),
    projects.map((one) =>
      el("option", { value: one.id, selected: one.id === projectId }, labelled(one, projects)),
    ),
  );
  const go = (event) => {
    event?.preventDefault();
    const asked = new URLSearchParams({ q: q.value.trim() });
    if (kinds.value) asked.set("kind", kinds.value);
    if (where.value) asked.set("project", where.value);
    location.hash = `#/search?${asked}`;
  };
  kinds.addEventListener("change", go);
  where.addEventListener("change", go);
  return el(
    "form",
    { class: "asked", on: { submit: go } },
    el("label", { class: "choice grow" }, el("span", {}, "Words"), q),
    el("label", { class: "choice" }, el("span", {}, "Kind"), kinds),
    el("label", { class: "choice" }, el("span", {}, "Project"), where),
    el("button", { type: "submit" }, "Search"),
  );
}

async function hits(route, words, kind, projectId) {
  const note = el("p", { class: "soft small" });
  const terms = words.toLowerCase().match(/[\p{L}\p{N}_]{2,}/gu) ?? [];
  const found = await paged({
    memory: route.memory,
    key: "hits",
    size: 20,
    list: el("ol", { class: "hits" }),
    load: async (limit, offset) => {
      const page = await get(
        ["search"],
        { q: words, kind, project_id: projectId, limit, offset },
        route.signal,
      );
      if (offset === 0 && page.lacks_words) note.textContent = "No match for all words; closest:";
      return { items: page.hits, next: page.next_offset };
    },
    draw: (one) => hit(one, terms),
    none: empty("No results.", "Try fewer words; parts of names and paths also match."),
  });
  return [note.textContent && note, ...found];
}

function hit(one, terms) {
  return el(
    "li",
    { class: "hit" },
    el(
      "div",
      { class: "line" },
      chip(one.fact ? kindName(one.fact.kind) : (WHO[one.who] ?? "Message")),
      one.fact && el("span", { class: "soft small" }, STATUS[one.fact.status] ?? one.fact.status),
      el(
        "span",
        { class: "soft small end" },
        el(
          "a",
          { href: `#/sessions/${encodeURIComponent(one.session_id)}` },
          "Session ",
          el("code", {}, one.session_id.slice(0, 8)),
        ),
        " · ",
        time(one.time),
      ),
    ),
    one.fact && subject(one.fact, one.snippet, terms),
    el("p", { class: "text" }, marked(one.snippet, terms)),
    one.fact && around(one.fact, one.snippet),
  );
}

/** Where a short value was seen: "port 3000" alone says little. */
function around(fact, snippet) {
  const seen = fact.detail.split("\n", 1)[0].slice(0, LONGEST);
  if (!seen || snippet.includes(seen.slice(0, 40))) return null;
  return el("p", { class: "text soft small" }, seen);
}

/** What a fact is about, where the words were found in its detail alone. */
function subject(fact, snippet, terms) {
  const said = fact.text.split("\n", 1)[0].slice(0, LONGEST);
  if (snippet.includes(said.slice(0, 40))) return null;
  const exact = EXACT.has(fact.kind);
  return el("p", { class: "text" }, el(exact ? "code" : "strong", {}, marked(said, terms)));
}

/** The words that were asked for stand out. */
function marked(text, terms) {
  if (terms.length === 0) return text;
  const escaped = terms.map((term) => term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const parts = text.split(new RegExp(`(${escaped.join("|")})`, "giu"));
  return parts.map((part, place) => (place % 2 ? el("mark", {}, part) : part));
}
