// The known facts of a session, by kind, status and words: in the order of the kinds, the latest first.

import { el } from "./dom.js";
import { chip, empty, fact, unfolding } from "./parts.js";
import { KINDS, number } from "./words.js";

/** However many there are, some are drawn, and the rest on demand. */
export function facts(all, memory, folder) {
  const place = el("div");
  const kinds = el(
    "select",
    { id: "fact-kind", "data-key": "fact-kind" },
    el("option", { value: "" }, `All kinds (${number(all.length)})`),
  );
  const counts = new Map();
  for (const one of all) counts.set(one.kind, (counts.get(one.kind) ?? 0) + 1);
  for (const kind of Object.keys(KINDS)) {
    if (counts.has(kind))
      kinds.append(el("option", { value: kind }, `${KINDS[kind][1]} (${number(counts.get(kind))})`));
  }
  const status = el(
    "select",
    { id: "fact-status", "data-key": "fact-status" },
    el("option", { value: "open" }, "Open"),
    el("option", { value: "" }, "Open and closed"),
  );
  const words = el("input", {
    id: "fact-words",
    type: "search",
    "data-key": "fact-words",
    placeholder: "Words",
  });
  kinds.value = memory.kind ?? "";
  status.value = memory.status ?? "open";
  words.value = memory.words ?? "";

  function draw() {
    const asked = words.value.trim().toLowerCase();
    const found = all.filter(
      (one) =>
        (!kinds.value || one.kind === kinds.value) &&
        (!status.value || one.status === status.value) &&
        (!asked || `${one.text} ${one.detail}`.toLowerCase().includes(asked)),
    );
    const order = Object.keys(KINDS);
    found.reverse();
    found.sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
    place.replaceChildren(
      ...(found.length
        ? unfolding(found, line(folder), {
            memory,
            key: "facts",
            size: 40,
            props: { class: "facts" },
            what: "more facts",
          })
        : [empty(all.length ? "No matching facts." : "No facts for this session yet.")]),
    );
  }

  function chosen() {
    Object.assign(memory, { kind: kinds.value, status: status.value, words: words.value });
    delete memory.facts;
    draw();
  }

  kinds.addEventListener("change", chosen);
  status.addEventListener("change", chosen);
  words.addEventListener("input", chosen);
  draw();
  return el(
    "section",
    { class: "card" },
    el(
      "div",
      { class: "head" },
      el("h2", {}, "Known facts"),
      el(
        "div",
        { class: "asked" },
        el("label", { class: "choice" }, el("span", { class: "unseen" }, "Kind"), kinds),
        el("label", { class: "choice" }, el("span", { class: "unseen" }, "Status"), status),
        el("label", { class: "choice" }, el("span", { class: "unseen" }, "Filter by text"), words),
      ),
    ),
    place,
  );
}

const line = (folder) => (one) => {
  const open = one.status === "open";
  return fact(one, {
    folder,
    key: "fact",
    kind: open ? "" : "closed",
    mark: open ? null : chip(one.status),
  });
};
