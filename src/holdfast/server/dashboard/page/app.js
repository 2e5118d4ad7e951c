// Which view is shown, and when it is drawn again. Views ask the API and answer with elements.

import { Refusal, keepToken, redeem, token } from "./api.js";
import { el, replaced } from "./dom.js";
import { listen } from "./live.js";
import { compaction } from "./views/compaction.js";
import { messages } from "./views/messages.js";
import { search } from "./views/search.js";
import { session } from "./views/session.js";
import { sessions } from "./views/sessions.js";
import { tasks } from "./views/tasks.js";
import { tokenForm } from "./views/token.js";

// Events come in bursts: one drawing for all of a burst.
const BURST = 300;

const main = document.getElementById("main");
const live = document.getElementById("live");
const memories = new Map(); // by address: how much was unfolded, what was typed

let shown = null; // {route, matters}
let loading = null;
let due = 0;
let missed = false;

function routeOf(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const parts = path.split("/").filter(Boolean).map(decoded);
  return { parts, query: new URLSearchParams(query), key: hash };
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // somebody typed it
  }
}

function viewOf(route) {
  const [first, second, third, fourth] = route.parts;
  if (first === undefined || first === "projects") return [sessions, "sessions", [second ?? ""]];
  if (first === "sessions" && second && third === "compactions" && fourth)
    return [compaction, "sessions", [second, fourth]];
  if (first === "sessions" && second) return [session, "sessions", [second]];
  if (first === "tasks") return [tasks, "tasks", [second ?? ""]];
  if (first === "messages") return [messages, "messages", [second ?? ""]];
  if (first === "search") return [search, "search", []];
  return null;
}

/** `fresh` when somebody came here; else the same place is drawn again. */
async function show({ fresh }) {
  loading?.abort();
  const mine = (loading = new AbortController());
  const route = routeOf(location.hash);
  const found = viewOf(route);
  if (!memories.has(route.key)) memories.set(route.key, {});
  route.memory = memories.get(route.key);
  route.signal = mine.signal;
  route.again = () => show({ fresh: false });
  main.setAttribute("aria-busy", "true");
  let drawn;
  try {
    if (!found) throw new Refusal(404, "Page not found");
    drawn = await found[0](route, ...found[2]);
  } catch (error) {
    if (mine.signal.aborted) return;
    if (!(error instanceof Refusal)) console.error(error);
    // What is on the screen is worth more than the news that it could not be asked for again.
    if (!fresh && !(error instanceof Refusal && error.status === 401)) return settled();
    drawn = refused(error);
  }
  if (mine.signal.aborted) return;
  shown = { route, matters: drawn.matters ?? (() => false) };
  document.title = drawn.title ? `${drawn.title} · Holdfast` : "Holdfast";
  for (const link of document.querySelectorAll("[data-nav]")) {
    if (found && link.dataset.nav === found[1]) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.getElementById("forget").hidden = !token();
  replaced(main, drawn.body);
  settled();
  if (fresh) arrived();
}

function settled() {
  main.setAttribute("aria-busy", "false");
  main.dataset.drawn = String(Number(main.dataset.drawn ?? 0) + 1);
}

let first = true;

/** A new page begins at its heading, for eyes and for screen readers. */
function arrived() {
  if (first) {
    first = false;
    return;
  }
  window.scrollTo(0, 0);
  const target = main.querySelector("[autofocus]") ?? main.querySelector("h1");
  target?.focus({ preventScroll: true });
}

function refused(error) {
  if (error.status === 401) {
    return {
      title: "Token required",
      body: tokenForm({
        wrong: token() ? error.message : "",
        onToken: (words) => {
          keepToken(words);
          listenAgain();
          show({ fresh: true });
        },
      }),
    };
  }
  const words =
    error instanceof Refusal ? error.message : "Unexpected error; see the browser console";
  const heading =
    error.status === 404
      ? "Not found"
      : error.status === 403
        ? "Access denied"
        : "Request failed";
  return {
    title: heading,
    body: [
      el("h1", { tabindex: -1 }, heading),
      el(
        "section",
        { class: "card empty" },
        el("p", {}, `${words}.`),
        el(
          "p",
          {},
          el("button", { type: "button", on: { click: () => show({ fresh: true }) } }, "Try again"),
          " ",
          el("a", { href: "#/" }, "All sessions"),
        ),
      ),
    ],
  };
}

function heard(event) {
  if (!shown || !shown.matters(event)) return;
  clearTimeout(due);
  due = setTimeout(() => show({ fresh: false }), BURST);
}

const STATES = { live: "Live", waiting: "Connecting", closed: "Disconnected" };

const listenAgain = listen({
  onEvent: heard,
  onState(state) {
    live.dataset.state = state;
    live.textContent = STATES[state];
    // Events missed meanwhile are not sent again.
    if (state === "live" && missed && shown) show({ fresh: false });
    missed = state === "waiting";
  },
});

document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address says which view is shown
  main.focus();
});
document.getElementById("forget").addEventListener("click", () => {
  keepToken("");
  memories.clear();
  listenAgain();
  show({ fresh: true });
});
document.getElementById("find").addEventListener("submit", (event) => {
  event.preventDefault();
  const words = document.getElementById("find-words").value.trim();
  if (words) location.hash = `#/search?${new URLSearchParams({ q: words })}`;
});
window.addEventListener("hashchange", () => show({ fresh: true }));

/** The code is good once: it does not stay in the address. */
async function begin() {
  const code = routeOf(location.hash).query.get("open");
  if (code) {
    history.replaceState(null, "", location.hash.split("?", 1)[0]);
    const given = await redeem(code);
    if (given) {
      keepToken(given);
      listenAgain();
    }
  }
  show({ fresh: true });
}
begin();
