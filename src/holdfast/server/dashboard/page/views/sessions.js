// The first page: what compaction has cost, and below it the sessions of one project or of all.

import { get } from "../api.js";
import { el } from "../dom.js";
import { allProjects, empty, heading, labelled, paged, shortName, table, time, unfolding } from "../parts.js";
import { HOUR, begun, dollars, number, sessionName, stamp, tokens, worktreeName } from "../words.js";
import { answer, loadOverview } from "./answer.js";

const ACTIVE = HOUR / 4;
const FEW = 10; // projects that one finds without searching
const MANY = 30;

export async function sessions(route, projectId) {
  const [projects, overview] = await Promise.all([
    allProjects(route.signal),
    loadOverview(projectId, route.signal),
  ]);
  const project = projects.find((one) => one.id === projectId);
  const rows = table(
    "Sessions, latest first",
    [
      ["Session"],
      ["Project", "project"],
      ["Last activity", "when"],
      ["Compactions", "n"],
      ["Lost", "n"],
      ["Tokens", "n wide-only"],
      ["Money", "n wide-only"],
    ],
    "sessions",
  );
  const list = await paged({
    memory: route.memory,
    key: "sessions",
    size: 25,
    list: rows,
    load: async (limit, offset) => {
      const page = await get(
        ["sessions"],
        { project_id: projectId, words: true, limit, offset },
        route.signal,
      );
      return { items: page.sessions, next: page.next_offset };
    },
    draw: (one) => row(one, projects, overview.bySession.get(one.id)),
    none: empty(
      "No sessions yet.",
      el(
        "span",
        {},
        "Install the hooks with ",
        el("code", {}, "holdfast install"),
        " and start working; or index existing sessions with ",
        el("code", {}, "holdfast session ingest"),
        ".",
      ),
      el("span", {}, "On another machine, ", el("code", {}, "holdfast team sync"), " syncs its sessions to this server."),
    ),
  });
  // Nothing to wait for: the page says how many are left, and draws itself again.
  if (overview.pending > 0) setTimeout(() => route.signal.aborted || route.again());
  const title = overview.compactions.length ? "What compaction cost you" : "Sessions";
  return {
    title: project ? project.name : title,
    matters: (event) => event.what === "saved" && (!project || event.project === project.path),
    body: [
      heading(project ? project.name || project.path : title),
      answer(overview),
      el(
        "div",
        { class: "beside" },
        side(projects, projectId, route.memory),
        el(
          "section",
          {
            class: "card",
            "aria-label": project ? `Sessions of ${labelled(project, projects)}` : "Sessions",
          },
          project &&
            el(
              "p",
              { class: "soft around" },
              el("code", {}, project.path),
              " ",
              el("a", { href: `#/tasks/${encodeURIComponent(project.id)}` }, "Tasks"),
              " ",
              el("a", { href: `#/messages/${encodeURIComponent(project.id)}` }, "Messages"),
            ),
          list,
        ),
      ),
    ],
  };
}

function side(projects, projectId, memory) {
  const place = el("div");
  const words = el("input", {
    type: "search",
    id: "project-words",
    placeholder: "Find a project",
    "aria-label": "Find a project",
    "data-key": "project-words",
    value: memory.project ?? "",
  });
  const draw = () => {
    const asked = words.value.trim().toLowerCase();
    const found = projects.filter((one) => one.path.toLowerCase().includes(asked));
    // The current project is always shown.
    found.sort((a, b) => (b.id === projectId) - (a.id === projectId));
    const line = (one) =>
      choice(
        `#/projects/${encodeURIComponent(one.id)}`,
        one.path ? shortName(one.path, projects) : "No project",
        one.path,
        one.id === projectId,
      );
    const [list, more] = unfolding(found, line, {
      memory,
      key: "projects",
      size: MANY,
      what: "more projects",
    });
    list.prepend(choice("#/", "All projects", "", !projectId));
    place.replaceChildren(list, more);
  };
  words.addEventListener("input", () => {
    memory.project = words.value;
    delete memory.projects;
    draw();
  });
  draw();
  return el(
    "nav",
    { class: "side", "aria-label": "Projects" },
    el("h2", {}, "Projects"),
    projects.length > FEW && words,
    place,
  );
}

const choice = (href, name, path, current) =>
  el(
    "li",
    {},
    el(
      "a",
      { href, "aria-current": current ? "true" : null, "data-key": href },
      el("span", {}, name),
      path && el("span", { class: "path" }, path),
    ),
  );

function row(one, projects, sum) {
  const href = `#/sessions/${encodeURIComponent(one.id)}`;
  return el(
    "tr",
    {},
    el(
      "th",
      { scope: "row" },
      el("a", { href, "data-key": href }, sessionName(one)),
      el("span", { class: "under" }, by(one), under(one), el("code", {}, one.id.slice(0, 8))),
    ),
    el(
      "td",
      { class: "project" },
      one.project
        ? el(
            "a",
            { href: `#/projects/${encodeURIComponent(one.project_id)}`, title: one.project },
            shortName(one.project, projects),
            worktreeName(one) && el("span", { class: "under" }, worktreeName(one)),
          )
        : el("span", { class: "soft" }, "none"),
    ),
    el("td", { class: "when" }, time(one.updated || one.started, { relative: true }), state(one)),
    el("td", { class: "n" }, sum ? number(sum.compactions) : "0"),
    el("td", { class: "n" }, lost(sum)),
    el("td", { class: "n wide-only" }, sum?.tokens ? tokens(sum.tokens) : ""),
    el("td", { class: "n wide-only" }, sum && sum.dollars !== null ? dollars(sum.dollars) : ""),
  );
}

/** In a team: who works on it. */
const by = (one) => one.user && [el("span", { class: "who" }, one.user), " · "];

function under(one) {
  const name = sessionName(one);
  return [one.branch, begun(one)]
    .filter((words) => words && words !== name)
    .map((words) => `${words} · `)
    .join("");
}

/** Of the facts that mattered, those its summaries lost, and how many of them came back. */
function lost(sum) {
  if (!sum || sum.kept + sum.lost === 0) return "";
  return [
    `${number(sum.lost)} of ${number(sum.kept + sum.lost)}`,
    sum.lost > 0 && el("span", { class: "under" }, `${number(sum.back)} in the brief`),
  ];
}

function state(one) {
  if (one.ended || Date.now() - stamp(one.updated) >= ACTIVE) return null;
  return el("span", { class: "state now" }, "Active");
}
