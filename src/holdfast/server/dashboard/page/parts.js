// Pieces that several views are made of.

import { get } from "./api.js";
import { el } from "./dom.js";
import { exactly, kindName, moment, number, since } from "./words.js";

export const heading = (text) => el("h1", { tabindex: -1 }, text);

export function time(text, { relative = false } = {}) {
  if (!text) return el("span", { class: "soft" }, "unknown");
  return el("time", { datetime: text, title: exactly(text) }, relative ? since(text) : moment(text));
}

export const chip = (text, kind = "") => el("span", { class: kind ? `chip ${kind}` : "chip" }, text);

/** What to do where there is nothing to see. */
export const empty = (title, ...more) =>
  el("div", { class: "empty" }, el("p", { class: "lead" }, title), ...more.map((one) => el("p", {}, one)));

export const crumbs = (...steps) =>
  el(
    "nav",
    { class: "crumbs", "aria-label": "Where this is" },
    el(
      "ol",
      {},
      steps
        .filter(Boolean)
        .map(([words, href]) =>
          el("li", {}, href ? el("a", { href }, words) : el("span", { "aria-current": "page" }, words)),
        ),
    ),
  );

export const tile = (name, big, note) =>
  el(
    "div",
    { class: "tile" },
    el("dt", {}, name),
    el("dd", {}, el("span", { class: "big" }, big), note && el("span", { class: "note" }, note)),
  );

/** A long text, folded where it would fill the screen. */
export function quoted(text, { key, lines = 6, mono = false }) {
  const kind = mono ? "quoted mono" : "quoted";
  if (text.length <= lines * 90 && text.split("\n").length <= lines) return el("div", { class: kind }, text);
  const beginning = `${text.split("\n").slice(0, 3).join("\n").slice(0, 220)}…`;
  return el(
    "details",
    { class: "long", "data-key": key },
    el("summary", {}, beginning),
    el("div", { class: kind }, text),
  );
}

/** One fact: its kind, its words, its id. `folder` is left out of paths; what is longer than
 * `most` is unfolded on demand. */
export function fact(one, { folder = "", mark = null, most = 320, key = "", kind = "" }) {
  const id = el("code", {}, one.id);
  if (one.gone)
    return el(
      "li",
      { class: "fact gone" },
      el("span", { class: "kind" }, "Gone", id),
      el("span", { class: "text" }, "No longer stored"),
      mark,
    );
  const mono = one.kind === "file" || one.kind === "command" ? " mono" : "";
  const text = inside(one.text, folder);
  const detail = one.detail === one.text ? "" : inside(one.detail ?? "", folder);
  const long = text.length > most;
  return el(
    "li",
    { class: `fact ${kind}` },
    el("span", { class: "kind" }, kindName(one.kind), id),
    el(
      "div",
      { class: "said" },
      long
        ? el(
            "details",
            { class: "long", "data-key": `${key}:${one.id}` },
            el("summary", { class: `text${mono}` }, clipped(text, most)),
            el("div", { class: `text rest${mono}` }, text),
          )
        : el("span", { class: `text${mono}` }, mono ? breaking(text) : text),
      detail &&
        el(
          "span",
          { class: "detail" },
          clipped(one.kind === "file" && most < 200 ? detail.split(";", 1)[0] : detail, Math.min(most, 140)),
        ),
      mark,
    ),
  );
}

/** Code may break after these signs, and not in the middle of a name. */
export function breaking(text) {
  return text.split(/(?<=[/_.-])/).flatMap((part) => [part, el("wbr")]);
}

/** A path as seen from the session's folder. */
export const inside = (text, folder) =>
  folder && folder !== "/" ? text.replaceAll(`${folder.replace(/\/$/, "")}/`, "") : text;

/** At most this many characters, on one stretch of lines. */
export function clipped(text, most = 320) {
  const plain = text.replace(/\s*\n\s*/g, "\n").replace(/^#+ /gm, "");
  return plain.length > most ? `${plain.slice(0, most).trimEnd()}…` : plain;
}

/** A list of which the first ones are shown, and more on demand. */
export function unfolding(items, draw, { memory, key, size = 30, tag = "ul", props = {}, what = "more" }) {
  const list = el(tag, props);
  const shown = () => memory[key] ?? size;
  const button = el("button", { type: "button", class: "more", "data-key": `more:${key}` });
  function fill(from) {
    const fresh = items.slice(from, shown()).map(draw);
    list.append(...fresh);
    const left = items.length - shown();
    button.hidden = left <= 0;
    button.textContent = `Show ${number(Math.min(size, left))} of ${number(left)} ${what}`;
    return fresh[0];
  }
  button.addEventListener("click", () => {
    const from = shown();
    memory[key] = from + size;
    const begin = fill(from);
    if (button.hidden) focusOn(begin);
  });
  fill(0);
  return [list, button];
}

/** Pages of the API, one after the other behind a button. `load(limit, offset)` answers
 * `{items, next}`. */
export async function paged({ memory, key, size = 50, load, draw, list, none }) {
  const most = 500; // what the API gives at once
  const begin = await load(Math.min(memory[key] ?? size, most), 0);
  if (begin.items.length === 0) return [none];
  list.append(...begin.items.map(draw));
  let next = begin.next;
  const button = el(
    "button",
    { type: "button", class: "more", "data-key": `more:${key}`, hidden: next === null },
    "More",
  );
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      const page = await load(size, next);
      const fresh = page.items.map(draw);
      memory[key] = next + page.items.length;
      list.append(...fresh);
      next = page.next;
      button.hidden = next === null || page.items.length === 0;
      if (button.hidden) focusOn(fresh[0]);
    } finally {
      button.disabled = false;
    }
  });
  return [list.root ?? list, button];
}

function focusOn(row) {
  const target = row?.querySelector("a, button, summary") ?? row;
  if (!target) return;
  if (target === row) target.setAttribute("tabindex", "-1");
  target.focus();
}

/** A table with a body that rows are appended to. */
export function table(caption, columns, kind = "") {
  const body = el("tbody");
  const root = el(
    "div",
    { class: "scroll", role: "region", "aria-label": caption, tabindex: 0 },
    el(
      "table",
      { class: kind },
      el("caption", { class: "unseen" }, caption),
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          columns.map(([name, className]) => el("th", { scope: "col", class: className || null }, name)),
        ),
      ),
      body,
    ),
  );
  return { root, body, append: (...rows) => body.append(...rows) };
}

/** A choice of projects that leads to `#/<view>/<project>`. */
export function projectChoice(projects, chosen, view, everything = "All projects") {
  const choice = el(
    "select",
    {
      id: "project",
      "data-key": "project",
      on: {
        change: () =>
          (location.hash = `#/${view}${choice.value ? `/${encodeURIComponent(choice.value)}` : ""}`),
      },
    },
    everything && el("option", { value: "" }, everything),
    projects.map((one) =>
      el("option", { value: one.id, selected: one.id === chosen }, labelled(one, projects)),
    ),
  );
  return el("label", { class: "choice" }, el("span", {}, "Project"), choice);
}

/** Two checkouts may have the same name: then the path tells them apart. */
export function labelled(project, projects) {
  const name = project.name || project.path || "No project";
  return projects.filter((one) => one.name === project.name).length > 1 ? `${name} (${project.path})` : name;
}

/** As many of the last parts of a path as no other project's path ends with. */
export function shortName(path, projects) {
  const parts = path.split("/").filter(Boolean);
  for (let count = 1; count <= parts.length; count += 1) {
    const end = parts.slice(-count).join("/");
    const alike = projects.filter((one) => `/${one.path}`.endsWith(`/${end}`));
    if (alike.length <= 1) return end;
  }
  return path;
}

export const allProjects = async (signal) => (await get(["projects"], {}, signal)).projects;
