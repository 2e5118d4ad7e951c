// Messages between agents, latest first, with who has read them.

import { get } from "../api.js";
import { el } from "../dom.js";
import { allProjects, chip, empty, heading, paged, projectChoice, quoted, time } from "../parts.js";

const URGENT = 8;
// What changes this page: one was sent, was given to somebody, was understood.
const NEWS = new Set(["message", "delivery", "acknowledged"]);

export async function messages(route, projectId) {
  const projects = await allProjects(route.signal);
  const names = new Map(projects.map((one) => [one.id, one]));
  const list = el("ul", { class: "letters" });
  const found = await paged({
    memory: route.memory,
    key: "messages",
    list,
    load: async (limit, offset) => {
      const page = await get(["messages"], { project_id: projectId, limit, offset }, route.signal);
      return { items: page.messages, next: page.next_offset };
    },
    draw: (one) => letter(one, projectId ? null : names.get(one.project_id)),
    none: empty(
      "No messages yet.",
      el(
        "span",
        {},
        "In a team, ",
        el("code", {}, "holdfast team send"),
        " writes to one agent, to a role, or to everyone in the project.",
      ),
    ),
  });
  const project = names.get(projectId);
  return {
    title: "Messages",
    matters: (event) => NEWS.has(event.what) && (!project || event.project === project.path),
    body: [
      el("div", { class: "head" }, heading("Messages"), projectChoice(projects, projectId, "messages")),
      el("section", { class: "card", "aria-label": "Messages, latest first" }, found),
    ],
  };
}

function letter(one, project) {
  const to = one.to_agent_id || (one.to_role ? `every ${one.to_role}` : "everybody");
  const readers = el("div", { class: "readers" });
  const unfold = el(
    "details",
    { "data-key": `readers:${one.id}` },
    el("summary", {}, "Read by"),
    readers,
  );
  unfold.addEventListener("toggle", () => unfold.open && readBy(one, readers));
  return el(
    "li",
    { class: "letter" },
    el(
      "div",
      { class: "line" },
      el("strong", {}, one.topic),
      one.priority >= URGENT && chip("urgent", "warm"),
      one.expires_at && new Date(one.expires_at) <= new Date() && chip("expired"),
      el(
        "span",
        { class: "soft" },
        el("span", { class: "who" }, one.from_agent_id),
        " to ",
        el("span", { class: "who" }, to),
      ),
      el(
        "span",
        { class: "soft end" },
        project && `${project.name} · `,
        time(one.created_at, { relative: true }),
      ),
    ),
    payload(one),
    unfold,
  );
}

function payload(one) {
  const entries = Object.entries(one.payload);
  if (entries.length === 0) return null;
  const plain = entries.every(([, value]) => typeof value !== "object" || value === null);
  if (!plain)
    return quoted(JSON.stringify(one.payload, null, 2), { key: `payload:${one.id}`, mono: true, lines: 8 });
  return el(
    "dl",
    { class: "payload" },
    entries.map(([name, value]) => [
      el("dt", {}, name),
      el("dd", {}, quoted(String(value), { key: `payload:${one.id}:${name}` })),
    ]),
  );
}

async function readBy(one, place) {
  place.textContent = "Loading…";
  try {
    const found = await get(["messages", one.id, "readers"]);
    if (found.readers.length === 0) {
      place.textContent = "Nobody yet: delivered with the next prompt.";
      return;
    }
    place.replaceChildren(
      el(
        "ul",
        {},
        found.readers.map((each) =>
          el(
            "li",
            {},
            el("span", { class: "who" }, each.reader),
            " received it ",
            time(each.delivered_at, { relative: true }),
            each.acknowledged_at ? [", acknowledged ", time(each.acknowledged_at, { relative: true })] : "",
          ),
        ),
      ),
    );
  } catch (error) {
    place.textContent = `${error.message}.`;
  }
}
