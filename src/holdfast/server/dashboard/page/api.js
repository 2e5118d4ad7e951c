// Asking the service. The token, where one is needed, stays in this tab and goes into a header.

const BASE = new URL("../api/", import.meta.url);
const KEY = "holdfast.token";
const PATIENCE = 3; // times that a busy service is asked again

export class Refusal extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

let held = null;

export function token() {
  if (held === null) {
    try {
      held = sessionStorage.getItem(KEY) ?? "";
    } catch {
      held = ""; // storage is switched off: the token holds until the page is left
    }
  }
  return held;
}

export function keepToken(words) {
  held = words;
  try {
    if (words) sessionStorage.setItem(KEY, words);
    else sessionStorage.removeItem(KEY);
  } catch {
    // as above
  }
}

export function headers() {
  return token() ? { Authorization: `Bearer ${token()}` } : {};
}

export function address(parts, query = {}) {
  const url = new URL(parts.map(encodeURIComponent).join("/"), BASE);
  for (const [name, value] of Object.entries(query)) {
    if (value !== "" && value !== null && value !== undefined) url.searchParams.set(name, value);
  }
  return url;
}

/** A document of the API, or a Refusal; status 0 when there is no answer. */
export async function get(parts, query = {}, signal = undefined) {
  for (let time = 0; ; time++) {
    const answer = await asked(address(parts, query), signal);
    if (answer.ok) return answer.json();
    const wait = Number(answer.headers.get("Retry-After"));
    if ((answer.status === 429 || answer.status === 503) && wait && time < PATIENCE) {
      await new Promise((done) => setTimeout(done, Math.min(wait, 5) * 1000));
      continue;
    }
    throw new Refusal(answer.status, await detail(answer));
  }
}

/** The token of this page, for the code that `holdfast open` put into its address; else "". */
export async function redeem(code) {
  try {
    const answer = await fetch(address(["open"]), {
      method: "POST",
      headers: { Authorization: `Code ${code}` },
      credentials: "omit",
    });
    return answer.ok ? (await answer.json()).token : "";
  } catch {
    return ""; // the next request reports it
  }
}

async function asked(url, signal) {
  try {
    return await fetch(url, { headers: headers(), signal, cache: "no-store", credentials: "omit" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal(0, "The server does not respond");
  }
}

async function detail(answer) {
  try {
    return (await answer.json()).detail || answer.statusText;
  } catch {
    return answer.statusText || `Status ${answer.status}`;
  }
}
