// Numbers, times and kinds as people read them.

import { KINDS } from "./kinds.js"; // made by the service from its table of kinds

export { KINDS };

const whole = new Intl.NumberFormat("en");
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const dayMonth = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const clockSeconds = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
});
const exact = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "long" });
const ago = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

const NAME = 80;
const TRUNKS = new Set(["main", "master", "trunk", "develop", "HEAD"]);
export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

const money = new Intl.NumberFormat("en", { style: "currency", currency: "USD" });
const share = new Intl.NumberFormat("en", { style: "percent" });

export const dollars = (value) => (value < 0.01 ? "under $0.01" : money.format(value));
export const percent = (value) => share.format(value).replace("%", " %");
export const number = (value) => whole.format(value);
export const tokens = (value) =>
  value === null || value === undefined ? "unknown" : short.format(value).replace("K", "k");
export const count = (value, one, many = `${one}s`) => `${number(value)} ${value === 1 ? one : many}`;

/** Milliseconds, or NaN for what is no time. */
export const stamp = (text) => Date.parse(text);

export function moment(text) {
  const at = stamp(text);
  return Number.isNaN(at) ? "at an unknown time" : `${day.format(at)}, ${clock.format(at)}`;
}

export const clockTime = (at) => (at % MINUTE ? clockSeconds : clock).format(at);
export const dayOf = (at) => dayMonth.format(at);

export function exactly(text) {
  const at = stamp(text);
  return Number.isNaN(at) ? "" : exact.format(at);
}

export function since(text, now = Date.now()) {
  const at = stamp(text);
  if (Number.isNaN(at)) return "unknown";
  const past = now - at;
  if (past < 45_000 && past > -45_000) return "just now";
  if (past < HOUR) return ago.format(-Math.round(past / MINUTE), "minute");
  if (past < 36 * HOUR) return ago.format(-Math.round(past / HOUR), "hour");
  if (past < 60 * DAY) return ago.format(-Math.round(past / DAY), "day");
  return day.format(at);
}

export function duration(milliseconds) {
  const minutes = Math.max(0, Math.round(milliseconds / MINUTE));
  if (minutes === 0) return `${Math.max(0, Math.round(milliseconds / SECOND))} s`;
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 36) return minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
  return `${Math.round(hours / 24)} days`;
}

export const kindName = (kind) => KINDS[kind]?.[0] ?? (kind || "Unknown");

const WHAT = {
  brief: "Brief",
  gap: "Gap",
  steering: "Steering",
  handoff: "Handoff",
  notice: "Notice",
};
export const deliveryName = (what) => WHAT[what] ?? what;

/** Its title, else a branch that says something, else how it began. */
export function sessionName(session) {
  return (
    session.title ||
    (TRUNKS.has(session.branch) ? "" : session.branch) ||
    begun(session) ||
    session.branch ||
    `Session ${session.id.slice(0, 8)}`
  );
}

export function begun(session) {
  const line = session.first_words.trim().split("\n", 1)[0];
  return line.length > NAME
    ? `${line
        .slice(0, NAME)
        .replace(/\s+\S*$/, "")
        .replace(/[.,;:]+$/, "")}…`
    : line;
}

/** Where its files are; the project itself may have a name that machines share. */
export const folderOf = (session) => session.worktree || session.cwd || session.project;
/** The checkout it ran in, where that is not the repository's own folder. */
export function worktreeName(session) {
  const { project, worktree } = session;
  if (!worktree || !project || worktree === project) return "";
  return worktree.startsWith(`${project}/`) ? worktree.slice(project.length + 1) : folderName(worktree);
}

export const folderName = (path) => path.split("/").filter(Boolean).at(-1) ?? path;
