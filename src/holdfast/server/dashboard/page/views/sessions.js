// Projects, and the sessions of one of them or of all.

import { get } from "../api.js";
import { el } from "../dom.js";
import { allProjects, empty, heading, labelled, paged, shortName, table, time, unfolding } from "../parts.js";
import { HOUR, begun, sessionName, stamp, worktreeName } from "../words.js";

const ACTIVE = HOUR / 4;
const FEW = 10; // projects that one finds without searching
const MANY = 30;

export async function sessions(route, projectId) {
  const projects = await allProjects(route.signal);
  const project = projects.find((one) => one.id === projectId);
  const rows = table(
    "Sessions, latest first",
    [["Session"], ["Project", "project"], ["Last activity", "when"], ["Begun", "when wide-only"], ["State"]],
    "sessions",
  );
  const list = await paged({
    memory: route.memory,
    key: "sessions",
    list: rows,
    load: async (limit, offset) => {
      const page = await get(
        ["sessions"],
        { project_id: projectId, words: true, limit, offset },
        route.signal,
      );
      return { items: page.sessions, next: page.next_offset };
    },
    draw: (one) => row(one, projects),
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
  return {
    title: project ? project.name : "Sessions",
    matters: (event) => event.what === "saved" && (!project || event.project === project.path),
    body: [
      heading(project ? project.name || project.path : "Sessions"),
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
    // Where one stands is always seen.
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

function row(one, projects) {
  const href = `#/sessions/${encodeURIComponent(one.id)}`;
  return el(
    "tr",
    {},
    el(
      "th",
      { scope: "row" },
      el("a", { href, "data-key": href }, sessionName(one)),
      el("span", { class: "under" }, under(one), el("code", {}, one.id.slice(0, 8))),
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
    el("td", { class: "when" }, time(one.updated || one.started, { relative: true })),
    el("td", { class: "when wide-only" }, time(one.started)),
    el("td", {}, state(one)),
  );
}

function under(one) {
  const name = sessionName(one);
  return [one.branch, begun(one)]
    .filter((words) => words && words !== name)
    .map((words) => `${words} · `)
    .join("");
}

function state(one) {
  if (one.ended) return el("span", { class: "state done" }, "Ended");
  if (Date.now() - stamp(one.updated) < ACTIVE) return el("span", { class: "state now" }, "Active");
  return el("span", { class: "state" }, "Open");
}
