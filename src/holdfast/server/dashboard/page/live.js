// Live events: server-sent events read with fetch, because an EventSource sends no token.

import { address, headers } from "./api.js";

const SHORTEST = 1_000;
const LONGEST = 30_000;

/** Listens for good; answers a function that starts over, for when the token has changed. */
export function listen({ onEvent, onState }) {
  let wait = SHORTEST;
  let again = 0;
  let stop = new AbortController();

  async function once() {
    const mine = stop;
    try {
      const answer = await fetch(address(["events"]), {
        headers: headers(),
        signal: mine.signal,
        cache: "no-store",
        credentials: "omit",
      });
      if (answer.status === 401 || answer.status === 403) {
        onState("closed");
        return; // until there is another token
      }
      if (!answer.ok) throw new Error(answer.statusText);
      onState("live");
      wait = SHORTEST;
      for await (const event of events(answer.body)) onEvent(event);
    } catch {
      if (mine.signal.aborted) return;
    }
    if (mine.signal.aborted) return;
    onState("waiting");
    again = setTimeout(once, wait);
    wait = Math.min(wait * 2, LONGEST);
  }

  once();
  return () => {
    clearTimeout(again);
    stop.abort();
    stop = new AbortController();
    wait = SHORTEST;
    once();
  };
}

async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    const blocks = text.split("\n\n");
    text = blocks.pop();
    for (const block of blocks) {
      const event = read(block);
      if (event) yield event;
    }
  }
}

function read(block) {
  const found = { what: "", project: "", session: "" };
  for (const line of block.split("\n")) {
    if (line.startsWith("event: ")) found.what = line.slice(7);
    if (line.startsWith("data: ")) {
      try {
        Object.assign(found, JSON.parse(line.slice(6)));
      } catch {
        return null;
      }
    }
  }
  return found.what ? found : null; // a heartbeat is none
}
