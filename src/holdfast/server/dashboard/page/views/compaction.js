// One compaction up close: what the summary kept, what it lost, what was given back, and what the
// agent then looked up again, side by side.

import { get } from "../api.js";
import { survival, survivalKey } from "../bars.js";
import { el } from "../dom.js";
import { breaking, chip, crumbs, empty, fact, heading, inside, time, unfolding } from "../parts.js";
import { conversation } from "./conversation.js";
import { count, deliveryName, folderName, folderOf, number, sessionName, tokens } from "../words.js";

const COMPARED = {
  recorded: "The hooks compared the summary with the known facts when it was written.",
  afterwards:
    "No hook ran: the summary was compared afterwards with the checkpoint of that time. What would have been restored is what today’s brief, made from that checkpoint alone, contains.",
  no: "Not compared: there is no summary, or no checkpoint of that time.",
};

export async function compaction(route, id, epoch) {
  const close = await get(["sessions", id, "compactions", epoch], {}, route.signal);
  const one = close.compaction;
  const base = `#/sessions/${encodeURIComponent(id)}`;
  const title = `Compaction ${one.epoch + 1}`;
  return {
    title: `${title} of ${sessionName(close.session)}`,
    matters: (event) => event.session === id,
    body: [
      crumbs(
        ["Sessions", "#/"],
        close.session.project && [
          folderName(close.session.project),
          `#/projects/${encodeURIComponent(close.session.project_id)}`,
        ],
        [sessionName(close.session), base],
        [title],
      ),
      el(
        "div",
        { class: "head" },
        heading(`${title} of ${number(close.compactions)}`),
        neighbours(one, close.compactions, base),
      ),
      el(
        "p",
        { class: "facts-line" },
        time(one.time),
        ` · ${one.trigger || "unknown"} · `,
        el("strong", {}, tokens(one.tokens_before)),
        " tokens before",
        one.tokens_after !== null && [", ", el("strong", {}, tokens(one.tokens_after)), " after"],
      ),
      el(
        "section",
        { class: "card" },
        el("h2", {}, outcome(one)),
        one.lost !== null && [survival(one), survivalKey([one], true)],
        el("p", { class: "soft small" }, COMPARED[close.compared]),
      ),
      contradictions(close),
      el(
        "div",
        { class: "four" },
        kept(close, route.memory),
        lost(close, route.memory),
        close.would_give ? wouldGive(close, route.memory) : given(close, route.memory),
        again(close, route.memory),
      ),
      conversation(route, id, epoch),
      texts(close),
    ],
  };
}

function contradictions(close) {
  const wrong = close.contradictions;
  if (wrong.length === 0) return null;
  return el(
    "section",
    { class: "card column lost", "aria-label": "Contradictions" },
    el("h2", {}, "The record says otherwise", el("span", { class: "count" }, number(wrong.length))),
    el("p", { class: "soft small" }, "Sentences of the summary, and what was seen in the session instead."),
    el(
      "ul",
      { class: "facts" },
      wrong.map((one) =>
        el(
          "li",
          { class: "fact" },
          el("span", { class: "kind" }, one.kind),
          el("span", { class: "text" }, `“${one.said}”`),
          el(
            "span",
            { class: "detail" },
            one.known,
            one.fact && ` · ${one.fact}`,
            one.row && ` · row ${one.row.slice(0, 8)}`,
          ),
        ),
      ),
    ),
  );
}

function outcome(one) {
  if (one.lost === null) return "The content of the summary is unknown";
  const all = one.kept + one.lost;
  if (one.lost === 0) return `The summary kept all ${number(all)} facts that mattered`;
  if (one.would_restore !== null) {
    return `Of ${number(all)} facts that mattered, the summary lost ${number(one.lost)}; Holdfast would have restored ${number(one.would_restore)}`;
  }
  const rest = one.lost - one.back;
  const given =
    rest === 0
      ? one.lost === 1
        ? "it was restored"
        : "all of them were restored"
      : `${number(one.back)} were restored`;
  return `Of ${number(all)} facts that mattered, the summary lost ${number(one.lost)}; ${given}`;
}

function neighbours(one, all, base) {
  const link = (epoch, words) =>
    epoch >= 0 && epoch < all
      ? el("a", { href: `${base}/compactions/${epoch}`, "data-key": words }, words)
      : null;
  return el(
    "nav",
    { class: "neighbours", "aria-label": "Other compactions" },
    link(one.epoch - 1, "Earlier"),
    link(one.epoch + 1, "Later"),
  );
}

const column = (kind, title, many, about, content) =>
  el(
    "section",
    { class: `card column ${kind}`, "aria-label": title },
    el("h2", {}, title, el("span", { class: "count" }, many === null ? "–" : number(many))),
    el("p", { class: "soft small" }, about),
    content,
  );

function listed(items, memory, key, none, folder, mark = () => null) {
  if (items.length === 0) return el("p", { class: "none" }, none);
  return unfolding(items, (one) => fact(one, { folder, mark: mark(one), most: 120, key }), {
    memory,
    key,
    size: 12,
    props: { class: "facts" },
    what: "left",
  });
}

const kept = (close, memory) =>
  column(
    "kept",
    "The summary kept",
    close.compared === "no" ? null : close.kept.length,
    "Facts that matter and are in the client's summary.",
    listed(
      close.kept,
      memory,
      "kept",
      close.compared === "no" ? "Not compared." : "None.",
      folderOf(close.session),
    ),
  );

const lost = (close, memory) =>
  column(
    "lost",
    "The summary lost",
    close.compared === "no" ? null : close.lost.length,
    "Facts that were known before and are missing from the summary.",
    listed(
      close.lost,
      memory,
      "lost",
      close.compared === "no" ? "Not compared." : "None: the summary is complete.",
      folderOf(close.session),
      (one) => restoredChip(one, close.would_give !== ""),
    ),
  );

function restoredChip(one, unseen) {
  if (one.back) return chip("restored", "good");
  if (one.would_restore) return chip("would be restored", "good");
  return chip(unseen ? "not in the brief either" : "not restored", "warm");
}

/** What no hook gave, because none ran: the lost facts that the brief would have told. */
function wouldGive(close, memory) {
  const told = close.lost.filter((one) => one.would_restore);
  return column(
    "given",
    "Holdfast would have restored",
    told.length,
    `No hook ran. Of what the summary lost, in a brief of ${count(close.would_give.length, "character")}.`,
    listed(
      told,
      memory,
      "given",
      close.lost.length ? "None of it: see the brief below." : "Nothing was lost.",
      folderOf(close.session),
    ),
  );
}

function given(close, memory) {
  const back = close.given.filter((one) => one.what === "brief" || one.what === "gap");
  const told = new Map(back.flatMap((one) => one.facts.map((each) => [each.id, each])));
  const missing = new Set(close.lost.map((one) => one.id));
  // What the summary had lost first: that is what it was for.
  const ordered = [...told.values()].sort((a, b) => missing.has(b.id) - missing.has(a.id));
  return column(
    "given",
    "Restored by Holdfast",
    told.size || back.length,
    "Delivered to the agent after the compaction: all current facts, not only lost ones.",
    back.length === 0
      ? el("p", { class: "none" }, "Nothing recorded: no hook ran, or there was nothing to restore.")
      : [
          el(
            "ul",
            { class: "deliveries" },
            back.map((one) =>
              el(
                "li",
                {},
                el("strong", {}, deliveryName(one.what)),
                el("span", { class: "soft small" }, `${count(one.text.length, "character")} by ${one.channel}`),
              ),
            ),
          ),
          listed(
            ordered,
            memory,
            "given",
            "No individual facts listed; see the full text below.",
            folderOf(close.session),
            (one) => missing.has(one.id) && chip("was lost", "warm"),
          ),
        ],
  );
}

function again(close, memory) {
  const items = close.again;
  return column(
    "again",
    "Repeated look-ups",
    items.length,
    "Seen before the compaction and looked up again after it.",
    items.length === 0
      ? el("p", { class: "none" }, "None so far.")
      : unfolding(
          items,
          (one) =>
            el(
              "li",
              { class: "fact" },
              el("span", { class: "kind" }, one.what),
              el("span", { class: "text mono" }, breaking(inside(one.subject, folderOf(close.session)))),
              el("span", { class: "detail" }, `${count(one.count, "time")} in total, last `, time(one.time)),
            ),
          { memory, key: "again", size: 12, props: { class: "facts" }, what: "left" },
        ),
  );
}

function texts(close) {
  const pages = [
    ["The client’s summary", close.summary],
    ...close.given.map((one) => [`${deliveryName(one.what)}, by ${one.channel}`, one.text]),
    ["The brief that would have been given", close.would_give],
  ].filter(([, text]) => text);
  if (pages.length === 0) return empty("No text is stored for this compaction.");
  return el(
    "section",
    { class: "card" },
    el("h2", {}, "Full text"),
    pages.map(([name, text], index) =>
      el(
        "details",
        { class: "page", "data-key": `page:${index}` },
        el("summary", {}, name, el("span", { class: "soft small" }, count(text.length, "character"))),
        el("div", { class: "quoted mono" }, text),
      ),
    ),
  );
}
