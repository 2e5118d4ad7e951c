// What compaction has cost, and what came back: the answer that the first page begins with.

import { get } from "../api.js";
import { survival, survivalColumn, survivalKey } from "../bars.js";
import { el } from "../dom.js";
import { tile, time } from "../parts.js";
import { count, dayOf, dollars, moment, number, percent, stamp, tokens } from "../words.js";

const WORST = 5;

/** What is known of compactions, of one project or of all; and the same by session. */
export async function loadOverview(projectId, signal) {
  const overview = await get(["overview"], { project_id: projectId }, signal);
  const bySession = new Map();
  for (const one of overview.compactions) {
    const sum = bySession.get(one.session_id) ?? { compactions: 0, tokens: 0, dollars: null, kept: 0, lost: 0, back: 0 };
    sum.compactions += 1;
    sum.tokens += one.tokens_before ?? 0;
    if (one.dollars !== null) sum.dollars = (sum.dollars ?? 0) + one.dollars;
    if (one.lost !== null) {
      sum.kept += one.kept;
      sum.lost += one.lost;
      sum.back += broughtBack(one);
    }
    bySession.set(one.session_id, sum);
  }
  return { ...overview, bySession };
}

const broughtBack = (one) => one.would_restore ?? one.back;
const known = (one) => one.kept + one.lost;
const hrefOf = (one) => `#/sessions/${encodeURIComponent(one.session_id)}/compactions/${one.epoch}`;
const sum = (items, value) => items.reduce((total, one) => total + value(one), 0);

/** Nothing where nothing was compacted. */
export function answer({ compactions, more, pending }) {
  if (compactions.length === 0) return null;
  const compared = compactions.filter((one) => one.lost !== null && known(one) > 0);
  return el(
    "section",
    { class: "card answer", "aria-label": "What compaction cost" },
    compared.length > 0 && headline(compared, pending),
    tiles(compactions, more, pending),
    compared.length > 0 && [overTime(compared, more), worst(compared)],
  );
}

function headline(compared, pending) {
  const all = sum(compared, known);
  const kept = sum(compared, (one) => one.kept) / all;
  const withBrief = kept + sum(compared, broughtBack) / all;
  const seen = compared.filter((one) => one.would_restore === null).length;
  const how =
    seen === compared.length
      ? "With what Holdfast restored it is"
      : seen === 0
        ? "With Holdfast it would have been"
        : "With Holdfast it is";
  const basis =
    seen === 0
      ? "no hook ran for them, so the brief is simulated"
      : seen < compared.length && `simulated for ${number(compared.length - seen)} that no hook saw`;
  return [
    el(
      "p",
      { class: "headline" },
      "Of what mattered, the summaries kept ",
      el("strong", { class: "low" }, percent(kept)),
      `. ${how} `,
      el("strong", { class: "high" }, percent(withBrief)),
      ".",
    ),
    el(
      "p",
      { class: "soft small" },
      `${count(all, "fact")} in ${count(compared.length, "compaction")}, compared by words`,
      basis && `; ${basis}`,
      pending > 0 && `; ${number(pending)} more are being compared`,
      ".",
    ),
  ];
}

function tiles(compactions, more, pending) {
  const automatic = compactions.filter((one) => one.trigger === "auto").length;
  const before = sum(compactions, (one) => one.tokens_before ?? 0);
  const priced = compactions.filter((one) => one.dollars !== null);
  return el(
    "dl",
    { class: "tiles" },
    tile("Compactions", number(compactions.length), `${number(automatic)} automatic${more ? "; the latest" : ""}`),
    before > 0 && tile("Tokens summarised", tokens(before), "context before, in total"),
    priced.length > 0 &&
      tile("Money", dollars(sum(priced, (one) => one.dollars)), `estimated, list prices without cache${pending > 0 ? "; so far" : ""}`),
  );
}

function overTime(compared, more) {
  const most = Math.max(...compared.map(known));
  const days = [compared[0], compared.at(-1)].map((one) => stamp(one.time));
  return [
    el("h2", {}, `${more ? "The latest compactions" : "Every compaction"}, oldest first`),
    el("p", { class: "soft small" }, `As high as its facts are many, ${number(most)} at most. Each leads to its four columns.`),
    el(
      "div",
      { class: "over-time" },
      el(
        "div",
        {},
        el(
          "ol",
          { class: "columns" },
          compared.map((one) =>
            el(
              "li",
              {},
              el(
                "a",
                { href: hrefOf(one), title: inWords(one), "aria-label": inWords(one), "data-key": hrefOf(one) },
                survivalColumn(one, most),
              ),
            ),
          ),
        ),
        !days.some(Number.isNaN) &&
          el("p", { class: "ends soft small", "aria-hidden": "true" }, days.map((at) => el("span", {}, dayOf(at)))),
      ),
    ),
    survivalKey(compared),
  ];
}

const inWords = (one) =>
  `${moment(one.time)}, ${one.name.slice(0, 60) || "a session"}: the summary kept ${number(one.kept)} of ` +
  `${count(known(one), "fact")}, ${number(broughtBack(one))} ${one.would_restore === null ? "restored" : "would have been restored"}`;

/** As an audit tells them: by the number of facts lost, one of each session. */
function worst(compared) {
  const ranked = compared.filter((one) => one.lost > 0);
  ranked.sort((a, b) => b.lost - a.lost || a.kept - b.kept);
  const seen = new Set();
  const measured = ranked.filter((one) => !seen.has(one.session_id) && seen.add(one.session_id));
  if (measured.length === 0) return null;
  return [
    el("h2", {}, "The summaries that lost most"),
    el(
      "ol",
      { class: "worst" },
      measured.slice(0, WORST).map((one) =>
        el(
          "li",
          {},
          el(
            "p",
            { class: "line" },
            el("a", { href: hrefOf(one) }, one.name.slice(0, 100) || `Session ${one.session_id.slice(0, 8)}`),
            el("span", { class: "soft small end" }, `compaction ${one.epoch + 1}, `, time(one.time)),
          ),
          survival(one),
          el(
            "p",
            { class: "soft small" },
            `${number(one.lost)} of ${count(known(one), "fact")} lost, ${number(broughtBack(one))} of them `,
            one.would_restore === null ? "restored" : "in the brief that Holdfast would have given",
          ),
        ),
      ),
    ),
  ];
}
