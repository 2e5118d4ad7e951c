// What became of the facts at a compaction, as one bar: in the summary, given back, not given back.
// Where no hook ran, what a brief would have given back is named and drawn as that.

import { el, sv } from "./dom.js";
import { number } from "./words.js";

const SHARES = [
  ["kept", "in the summary"],
  ["back", "lost and restored"],
  ["would", "lost; Holdfast would have restored it"],
  ["lost", "lost and not restored"],
];

const shares = (one) => ({
  kept: one.kept,
  back: one.back,
  would: one.would_restore ?? 0,
  lost: one.lost - one.back - (one.would_restore ?? 0),
});

export function survival(one) {
  const parts = shares(one);
  const all = Math.max(
    1,
    SHARES.reduce((sum, [name]) => sum + parts[name], 0),
  );
  let begin = 0;
  const drawn = SHARES.map(([name]) => {
    const width = (parts[name] / all) * 100;
    const rect = sv("rect", { class: `share-${name}`, x: `${begin}%`, width: `${width}%`, height: "100%" });
    begin += width;
    return width ? rect : null;
  });
  return sv(
    "svg",
    { class: "bar", "aria-hidden": "true", focusable: "false" },
    sv("rect", { class: "track", width: "100%", height: "100%" }),
    drawn,
  );
}

/** The same upright, for one bar among many: as high as its facts are many, of `most`. */
export function survivalColumn(one, most) {
  const parts = shares(one);
  const all = Math.max(1, most);
  let foot = 100;
  const drawn = SHARES.map(([name]) => {
    const height = (parts[name] / all) * 100;
    foot -= height;
    return height
      ? sv("rect", { class: `share-${name}`, y: `${foot}%`, height: `${height}%`, width: "100%" })
      : null;
  });
  return sv("svg", { class: "column-bar", "aria-hidden": "true", focusable: "false" }, drawn);
}

/** What the colours of these bars mean; with its numbers where only one is explained. */
export const survivalKey = (bars, numbered = false) => {
  const parts = numbered && shares(bars[0]);
  const without = {
    back: bars.every((one) => one.would_restore !== null),
    would: bars.every((one) => one.would_restore === null),
  };
  const told = SHARES.filter(([name]) => !without[name]).map(([name, words]) => [
    name,
    name === "lost" && without.back ? "lost and not in the brief either" : words,
  ]);
  return el(
    "ul",
    { class: "legend" },
    told.map(([name, words]) =>
      el(
        "li",
        {},
        sv(
          "svg",
          { width: 14, height: 12, "aria-hidden": "true" },
          sv("rect", { class: `share-${name}`, width: 14, height: 12, rx: 3 }),
        ),
        parts && el("strong", {}, number(parts[name])),
        words,
      ),
    ),
  );
};
