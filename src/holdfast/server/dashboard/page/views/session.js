// One session: its life, its compactions, what is known of it.

import { get } from "../api.js";
import { survival, survivalKey } from "../bars.js";
import { lifeChart } from "../chart.js";
import { el } from "../dom.js";
import { facts } from "../known.js";
import { crumbs, empty, heading, table, tile, time } from "../parts.js";
import {
  KINDS,
  count,
  duration,
  folderName,
  folderOf,
  moment,
  number,
  sessionName,
  stamp,
  tokens,
} from "../words.js";

export async function session(route, id) {
  const [life, known] = await Promise.all([
    get(["sessions", id, "life"], {}, route.signal),
    get(["sessions", id, "facts"], {}, route.signal),
  ]);
  const one = life.session;
  const href = (epoch) => `#/sessions/${encodeURIComponent(id)}/compactions/${epoch}`;
  return {
    title: sessionName(one),
    matters: (event) => event.session === id,
    body: [
      crumbs(
        ["Sessions", "#/"],
        one.project && [folderName(one.project), `#/projects/${encodeURIComponent(one.project_id)}`],
        [sessionName(one)],
      ),
      heading(sessionName(one)),
      about(one, life),
      tiles(life),
      el(
        "section",
        { class: "card" },
        el("h2", {}, "Context over time"),
        life.points.length
          ? [lifeChart(life, href), asTable(life)]
          : empty(
              "No context usage recorded yet.",
              "It is read from the transcript; the agent's next reply adds the first point.",
            ),
      ),
      el("section", { class: "card" }, el("h2", {}, "Compactions"), compactions(life, href)),
      facts(known.facts, route.memory, folderOf(one)),
      brief(id),
    ],
  };
}

function about(one, life) {
  const facts = [
    folderOf(one) && ["Folder", el("code", {}, folderOf(one))],
    one.branch && ["Branch", el("code", {}, one.branch)],
    life.model && ["Model", life.model],
    ["Begun", time(one.started)],
    one.ended ? ["Ended", time(one.ended)] : ["Last activity", time(one.updated, { relative: true })],
    ["Id", el("code", {}, one.id)],
  ];
  return el(
    "dl",
    { class: "about" },
    facts.filter(Boolean).map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))),
  );
}

function tiles(life) {
  const last = life.points.at(-1);
  const open = Object.values(life.kinds).reduce((sum, each) => sum + each, 0);
  const judged = life.compactions.filter((one) => one.lost !== null);
  const lost = judged.reduce((sum, one) => sum + one.lost, 0);
  const back = judged.reduce((sum, one) => sum + one.back, 0);
  const would = judged.reduce((sum, one) => sum + (one.would_restore ?? 0), 0);
  const unseen = judged.length > 0 && judged.every((one) => one.would_restore !== null);
  const again = life.compactions.reduce((sum, one) => sum + one.again, 0);
  const first = life.points[0];
  return el(
    "dl",
    { class: "tiles" },
    tile("Context now", last ? tokens(last.context) : "none yet", last ? "tokens" : "no reply yet"),
    tile(
      "Compactions",
      number(life.compactions.length),
      first ? `in ${duration(stamp(last.time) - stamp(first.time))}` : "",
    ),
    tile(
      unseen ? "Would have been restored" : "Restored",
      judged.length ? `${number(unseen ? would : back)} of ${number(lost)}` : "none",
      judged.length ? "facts lost by summaries" : "no summary was compared",
    ),
    tile("Repeated look-ups", number(again), "after a compaction"),
    tile("Current facts", number(open), openKinds(life.kinds)),
  );
}

function openKinds(kinds) {
  const most = Object.entries(kinds)
    .sort((a, b) => b[1] - a[1])
    .map(([kind, many]) => [many, `${number(many)} ${(KINDS[kind]?.[many === 1 ? 0 : 1] ?? kind).toLowerCase()}`]);
  const rest = most.slice(2).reduce((sum, [many]) => sum + many, 0);
  const named = most.slice(0, 2).map(([, words]) => words);
  return [...named, ...(rest ? [count(rest, "other")] : [])].join(", ");
}

/** The chart as a table; filled when it is opened. */
function asTable(life) {
  const unfold = el(
    "details",
    { class: "as-table", "data-key": "as-table" },
    el("summary", {}, "Show as table"),
  );
  unfold.addEventListener("toggle", () => {
    if (!unfold.open || unfold.childElementCount > 1) return;
    const happened = [
      ...life.points.map((one) => [one.time, "Context", `${number(one.context)} tokens`]),
      ...life.compactions.map((one) => [
        one.time,
        `Compaction ${one.epoch + 1}`,
        `${one.trigger || "unknown"}, from ${tokens(one.tokens_before)} tokens`,
      ]),
      ...life.checkpoints.map((one) => [one.time, "Checkpoint", one.cause]),
      ...life.deliveries.map((one) => [
        one.time,
        `Delivered: ${one.what}`,
        count(one.characters, "character"),
      ]),
    ].sort((a, b) => stamp(a[0]) - stamp(b[0]));
    const made = table("What the chart shows", [["Time"], ["What"], ["Amount"]]);
    made.append(
      ...happened.map(([when, what, much]) =>
        el("tr", {}, el("td", {}, moment(when)), el("td", {}, what), el("td", {}, much)),
      ),
    );
    unfold.append(made.root);
  });
  return unfold;
}

function compactions(life, href) {
  if (life.compactions.length === 0) {
    return empty(
      "No compactions yet.",
      "When the context is full, the client replaces it with a summary. What the summary keeps and loses will be shown here.",
    );
  }
  const made = table(
    "Compactions, oldest first",
    [["Compaction"], ["Tokens before", "n"], ["Facts", "grows"], ["Repeated look-ups", "n"]],
    "compactions",
  );
  made.append(
    ...life.compactions.map((one) =>
      el(
        "tr",
        {},
        el(
          "th",
          { scope: "row" },
          el(
            "a",
            { href: href(one.epoch), "data-key": `compaction:${one.epoch}` },
            `Compaction ${one.epoch + 1}`,
          ),
          el("span", { class: "under" }, time(one.time), ` · ${one.trigger || "unknown"}`),
        ),
        el("td", { class: "n" }, tokens(one.tokens_before)),
        el(
          "td",
          { class: "grows" },
          one.lost === null
            ? el("span", { class: "soft" }, "not compared: no checkpoint of that time")
            : [
                survival(one),
                el(
                  "span",
                  { class: "under" },
                  `${number(one.kept)} in the summary, ${number(one.lost)} lost, ${restored(one)}`,
                ),
              ],
        ),
        el("td", { class: "n" }, number(one.again)),
      ),
    ),
  );
  const judged = life.compactions.filter((one) => one.lost !== null);
  return [made.root, judged.length > 0 && survivalKey(judged)];
}

const restored = (one) =>
  one.would_restore === null
    ? `${number(one.back)} of them restored`
    : `${number(one.would_restore)} of them would have been restored`;

function brief(id) {
  const text = el("div", { class: "quoted mono" }, "Loading…");
  const unfold = el(
    "details",
    { "data-key": "brief" },
    el("summary", {}, el("h2", {}, "What the agent would be given now")),
    text,
  );
  unfold.addEventListener("toggle", async () => {
    if (!unfold.open) return;
    try {
      const made = await get(["sessions", id, "brief"]);
      text.textContent = made.text || "Nothing: this session has no current facts.";
    } catch (error) {
      text.textContent = `${error.message}.`;
    }
  });
  return el("section", { class: "card" }, unfold);
}
