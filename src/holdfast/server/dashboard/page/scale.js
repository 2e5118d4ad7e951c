// Where a time and a number of tokens are in the chart. Pure.

import { DAY, HOUR, MINUTE, SECOND } from "./words.js";

// Nights and lunches would take all the room: a longer pause is drawn this short.
const PAUSE = 25 * MINUTE;
const SQUEEZED = 5 * MINUTE;

const STEPS = [1, 2, 5, 10, 15, 30]
  .map((n) => n * SECOND)
  .concat(
    [1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
    [1, 2, 3, 6, 12].map((n) => n * HOUR),
    [1, 2, 7, 14, 28].map((n) => n * DAY),
  );

/** From times (any order) to a scale: `x(time)` within 0..1, and the pauses that were shortened. */
export function timeScale(times) {
  const known = [...new Set(times.filter((one) => !Number.isNaN(one)))].sort((a, b) => a - b);
  if (known.length === 0) return { x: () => 0, times: known, pauses: [] };
  const places = [0];
  const pauses = [];
  for (let index = 1; index < known.length; index++) {
    const gap = known[index] - known[index - 1];
    if (gap > PAUSE) pauses.push({ from: known[index - 1], to: known[index] });
    places.push(places[index - 1] + (gap > PAUSE ? SQUEEZED : gap));
  }
  const length = places.at(-1) || 1;
  const x = (at) => {
    const index = after(known, at);
    if (index === 0) return 0;
    if (index === known.length) return known.length === 1 ? 0 : 1;
    const share = (at - known[index - 1]) / (known[index] - known[index - 1]);
    return (places[index - 1] + share * (places[index] - places[index - 1])) / length;
  };
  return { x, times: known, pauses };
}

/** The place of the first of `sorted` that is later than `at`. */
function after(sorted, at) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Round times, far enough apart (`least`, as a share of the width) and in no pause. */
export function timeTicks(scale, least) {
  const { times, pauses, x } = scale;
  if (times.length < 2) return times;
  const begin = times[0];
  const end = times.at(-1);
  const offset = new Date(begin).getTimezoneOffset() * MINUTE;
  for (const step of STEPS) {
    if ((end - begin) / step > 2000) continue;
    const found = [];
    let crowded = false;
    for (let at = Math.ceil((begin - offset) / step) * step + offset; at <= end; at += step) {
      if (pauses.some((pause) => at > pause.from && at < pause.to)) continue;
      if (found.length && x(at) - x(found.at(-1)) < least) {
        // Two stretches of work side by side, with a pause between: not a matter of the step.
        if (pauses.some((pause) => pause.from >= found.at(-1) && pause.to <= at)) continue;
        crowded = true;
        break;
      }
      found.push(at);
    }
    if (!crowded) return found;
  }
  return [begin];
}

/** 0, 50k, 100k ...: a round step, and the top of the axis. */
export function amounts(highest) {
  const rough = Math.max(highest, 1000) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((n) => n * power).find((n) => n >= rough);
  const top = Math.ceil(Math.max(highest, 1000) / step) * step;
  const ticks = [];
  for (let value = 0; value <= top; value += step) ticks.push(value);
  return { ticks, top };
}
