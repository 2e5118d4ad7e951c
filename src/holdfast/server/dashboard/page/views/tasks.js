// Tasks by wave with their agents: what can run now, what waits for what, what is finished.

import { get } from "../api.js";
import { el } from "../dom.js";
import { allProjects, chip, clipped, empty, heading, projectChoice, quoted, time } from "../parts.js";
import { count, folderName, number, sessionName } from "../words.js";

const SESSIONS = 20;
const FINISHED = 6;
const STATUS = {
  running: "running",
  completed: "done",
  failed: "failed",
  pending: "waiting",
  in_progress: "in progress",
  cancelled: "cancelled",
  deleted: "deleted",
};

export async function tasks(route, asked) {
  const projects = await allProjects(route.signal);
  const projectId = asked || (await latestProject(route, projects));
  const project = projects.find((one) => one.id === projectId);
  if (!project) {
    return {
      title: "Tasks",
      body: [
        heading("Tasks"),
        el(
          "section",
          { class: "card" },
          empty(
            "No projects yet.",
            "Tasks appear when agents use their task tools.",
          ),
        ),
      ],
    };
  }
  const boards = [];
  const wanted = route.memory.sessions ?? SESSIONS;
  let next = 0;
  while (next !== null && next < wanted) {
    const [page, tree] = await Promise.all([
      get(["sessions"], { project_id: projectId, words: true, limit: SESSIONS, offset: next }, route.signal),
      get(["hierarchy", projectId], { limit: SESSIONS, offset: next }, route.signal),
    ]);
    boards.push(...page.sessions.map((one) => board(one, tree, route.memory)).filter(Boolean));
    next = page.next_offset;
  }
  const more =
    next !== null &&
    el(
      "button",
      {
        type: "button",
        class: "more",
        "data-key": "more:tasks",
        on: {
          click: () => {
            route.memory.sessions = wanted + SESSIONS;
            route.again();
          },
        },
      },
      "Earlier sessions",
    );
  return {
    title: `Tasks of ${project.name}`,
    matters: (event) => event.project === project.path && event.what === "saved",
    body: [
      el("div", { class: "head" }, heading("Tasks"), projectChoice(projects, projectId, "tasks", "")),
      boards.length
        ? boards
        : el(
            "section",
            { class: "card" },
            empty(
              `No tasks in ${folderName(project.path)} yet.`,
              "They appear automatically when an agent uses its task tools or starts subagents.",
            ),
          ),
      more,
    ],
  };
}

/** Where the last work was, when no project is asked for. */
async function latestProject(route, projects) {
  const page = await get(["sessions"], { limit: 1 }, route.signal);
  return page.sessions[0]?.project_id ?? projects[0]?.id ?? "";
}

const OVER = new Set(["completed", "deleted", "cancelled"]);

function board(session, tree, memory) {
  const requests = tree.requests.filter((one) => one.session_id === session.id);
  const all = requests.flatMap((one) => one.tasks.map((task) => ({ ...task, request: one.prompt })));
  const loose = requests.flatMap((one) => one.subtasks);
  if (all.length === 0 && loose.length === 0) return null;
  const names = new Map(all.map((one) => [one.id, one.name]));
  const waves = tree.waves.filter((one) => one.session_id === session.id);
  const open = all.filter((one) => !OVER.has(one.status));
  const finished = all.filter((one) => OVER.has(one.status));
  const circles = tree.circles.filter((circle) => circle.some((id) => names.has(id)));
  const stuck = open.filter((one) => circles.some((circle) => circle.includes(one.id)));
  const ready = open.filter((one) => one.blocked_by.length === 0 && !stuck.includes(one));
  const waiting = waves.map((wave) => [
    `Wave ${wave.number}`,
    `${wave.percent} % done`,
    open.filter(
      (one) =>
        one.wave_number === wave.number && !ready.includes(one) && !stuck.includes(one),
    ),
  ]);
  const columns = [
    ready.length ? ["Ready", "not blocked", ready] : null,
    ...waiting.filter(([, , found]) => found.length),
    stuck.length ? ["Dependency cycle", "these wait for each other", stuck] : null,
  ].filter(Boolean);
  return el(
    "section",
    { class: "card board-of", "aria-label": sessionName(session) },
    el(
      "h2",
      {},
      el(
        "a",
        { href: `#/sessions/${encodeURIComponent(session.id)}`, "data-key": `board:${session.id}` },
        sessionName(session),
      ),
      el(
        "span",
        { class: "soft small" },
        session.user && [el("span", { class: "who" }, session.user), " · "],
        `${count(open.length, "open task")}, ${number(finished.length)} finished · `,
        (waves.length > 1 ? waves : []).map((one) => `wave ${one.number}: ${one.status === "done" ? "done" : `${one.percent} %`} · `).join(""),
        time(session.updated, { relative: true }),
      ),
    ),
    columns.length > 0 &&
      el(
        "div",
        { class: "board" },
        columns.map(([name, note, found]) =>
          el(
            "section",
            { class: "wave", "aria-label": name },
            el("h3", {}, name, el("span", { class: "count" }, number(found.length))),
            el("p", { class: "soft small" }, note),
            el(
              "ul",
              {},
              found.map((one) => card(one, names)),
            ),
          ),
        ),
      ),
    finished.length > 0 && done(session, finished, names, memory, columns.length === 0),
    loose.length > 0 &&
      el(
        "div",
        { class: "loose" },
        el("h3", {}, "Agents without a task"),
        el("ul", { class: "agents" }, loose.map(agent)),
      ),
  );
}

function done(session, finished, names, memory, alone) {
  const latest = [...finished].reverse();
  const key = `done:${session.id}`;
  return el(
    "details",
    { class: "finished", "data-key": key, open: alone && finished.length <= FINISHED },
    el("summary", {}, count(finished.length, "finished task")),
    el(
      "ul",
      { class: "grid-cards" },
      latest.map((one) => card(one, names)),
    ),
  );
}

const card = (one, names) =>
  el(
    "li",
    { class: `task ${one.status}` },
    el(
      "div",
      { class: "line" },
      el("strong", {}, one.name || "Without a name"),
      el("span", { class: `status ${one.status}` }, STATUS[one.status] ?? one.status),
    ),
    one.description &&
      one.description !== one.name &&
      el("p", { class: "detail" }, clipped(one.description, 180)),
    one.owner && el("p", { class: "small" }, "Owner: ", el("span", { class: "who" }, one.owner)),
    one.blocked_by.length > 0 &&
      el(
        "p",
        { class: "small blocked" },
        "Waits for: ",
        one.blocked_by.map((id) => names.get(id) ?? id.split(":").at(-1)).join(", "),
      ),
    one.subtasks.length > 0 && el("ul", { class: "agents" }, one.subtasks.map(agent)),
  );

const agent = (one) =>
  el(
    "li",
    {},
    el(
      "div",
      { class: "line" },
      el("span", { class: "who" }, one.agent_type || "agent"),
      el("span", { class: `status ${one.status}` }, STATUS[one.status] ?? one.status),
      one.files.length > 0 && chip(count(one.files.length, "file")),
    ),
    one.description && el("p", { class: "detail" }, clipped(one.description, 160)),
    one.result && quoted(one.result, { key: `result:${one.id}`, lines: 2 }),
  );
