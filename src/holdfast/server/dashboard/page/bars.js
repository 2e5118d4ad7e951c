// What became of the facts at a compaction, as one bar: in the summary, given back, not given back.

import { el, sv } from "./dom.js";
import { number } from "./words.js";

const SHARES = [
  ["kept", "in the summary"],
  ["back", "lost and restored"],
  ["lost", "lost and not restored"],
];

const shares = (one) => ({ kept: one.kept, back: one.back, lost: one.lost - one.back });

export function survival(one) {
  const parts = shares(one);
  const all = Math.max(1, parts.kept + parts.back + parts.lost);
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

export const survivalKey = (one = null) => {
  const parts = one && shares(one);
  return el(
    "ul",
    { class: "legend" },
    SHARES.map(([name, words]) =>
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
