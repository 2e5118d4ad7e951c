// A session's life as a drawing: context use over time, each compaction a drop, checkpoints and
// what was given back as marks. Everything it shows is also in words and tables beside it.

import { el, sv } from "./dom.js";
import { amounts, timeScale, timeTicks } from "./scale.js";
import { clockTime, count, dayOf, deliveryName, duration, moment, number, stamp, tokens } from "./words.js";

const PLOT = 210;
const TOP = 34;
const LANE = 22;
const LANES = 2;
const FOOT = 26;
const LEFT = 46;
const RIGHT = 16;
const HEIGHT = TOP + PLOT + LANES * LANE + FOOT + 8;
const LABEL = 74; // what a time under the axis needs

/** `compactionHref(epoch)` says where a drop leads. */
export function lifeChart(life, compactionHref) {
  const points = life.points
    .map((one) => ({ ...one, at: stamp(one.time) }))
    .filter((one) => !Number.isNaN(one.at));
  const compactions = life.compactions.map((one) => ({ ...one, at: stamp(one.time) }));
  const checkpoints = life.checkpoints.map((one) => ({ ...one, at: stamp(one.time) }));
  const given = life.deliveries
    .filter((one) => one.what === "brief" || one.what === "gap")
    .map((one) => ({ ...one, at: stamp(one.time) }));
  const scale = timeScale([points, compactions, checkpoints, given].flat().map((one) => one.at));
  const axis = amounts(
    Math.max(...points.map((one) => one.context), ...compactions.map((one) => one.tokens_before ?? 0)),
  );
  const drawing = { points, compactions, checkpoints, given, scale, axis, compactionHref };

  const readout = el("output", { class: "readout", for: "life-moment" });
  const slider = el("input", {
    type: "range",
    id: "life-moment",
    class: "scrub",
    min: 0,
    max: points.length - 1,
    step: 1,
    value: points.length - 1,
    "data-key": "life-moment",
  });
  const place = el("div", { class: "plot" });
  let cursor = null;
  let width = 0;

  function tell() {
    const point = points[Number(slider.value)];
    const words = `${moment(point.time)}: ${number(point.context)} tokens, ${point.epoch === 0 ? "before the first compaction" : `after compaction ${point.epoch}`}`;
    readout.textContent = words;
    slider.setAttribute("aria-valuetext", words);
    if (!cursor) return;
    const x = LEFT + scale.x(point.at) * (width - LEFT - RIGHT);
    cursor.line.setAttribute("x1", x);
    cursor.line.setAttribute("x2", x);
    cursor.dot.setAttribute("cx", x);
    cursor.dot.setAttribute("cy", yOf(point.context, axis));
  }

  function draw() {
    const now = Math.max(place.clientWidth, 280);
    if (now === width) return;
    width = now;
    const focused = place.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    cursor = {
      line: sv("line", { class: "cursor", y1: TOP, y2: TOP + PLOT }),
      dot: sv("circle", { class: "cursor-dot", r: 4.5 }),
    };
    place.replaceChildren(drawn(drawing, width, cursor));
    if (focused)
      [...place.querySelectorAll("[data-key]")].find((one) => one.dataset.key === focused)?.focus();
    tell();
  }

  slider.addEventListener("input", tell);
  place.addEventListener("pointermove", (event) => {
    const box = place.getBoundingClientRect();
    const share = (event.clientX - box.left - LEFT) / (width - LEFT - RIGHT);
    slider.value = nearest(points, scale, share);
    tell();
  });
  new ResizeObserver(draw).observe(place);

  return el(
    "figure",
    { class: "life", "aria-labelledby": "life-words" },
    place,
    el(
      "div",
      { class: "under-plot" },
      el("label", { class: "unseen", for: "life-moment" }, "Point in the session"),
      slider,
      readout,
    ),
    legend(),
    el("figcaption", { id: "life-words" }, inWords(life, points, scale)),
  );
}

const yOf = (amount, axis) => TOP + PLOT * (1 - Math.min(amount / axis.top, 1));

function nearest(points, scale, share) {
  let best = 0;
  for (let index = 1; index < points.length; index++) {
    if (Math.abs(scale.x(points[index].at) - share) < Math.abs(scale.x(points[best].at) - share))
      best = index;
  }
  return best;
}

function drawn({ points, compactions, checkpoints, given, scale, axis, compactionHref }, width, cursor) {
  const inner = width - LEFT - RIGHT;
  const x = (at) => LEFT + scale.x(at) * inner;
  const y = (amount) => yOf(amount, axis);
  const floor = TOP + PLOT;
  const shape = path(points, compactions, x, y);
  const quiet = sv(
    "g",
    { "aria-hidden": "true" },
    axis.ticks.map((value) => [
      sv("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(value), y2: y(value) }),
      sv("text", { class: "tick", x: LEFT - 8, y: y(value) + 4, "text-anchor": "end" }, tokens(value)),
    ]),
    scale.pauses.map((pause) => pauseMark(pause, x, points, axis)),
    sv("path", {
      class: "area",
      d: `${shape.line} L${x(points.at(-1).at).toFixed(1)},${floor} L${x(points[0].at).toFixed(1)},${floor} Z`,
    }),
    sv("path", { class: "context", d: shape.line }),
    shape.drops.map((drop) =>
      sv("line", { class: "drop", x1: drop.x, x2: drop.x, y1: drop.from, y2: drop.to }),
    ),
    timeTicks(scale, LABEL / inner).map((at, index, all) => tick(at, all[index - 1], x(at), width)),
    lane("checkpoints", 0, width),
    checkpoints.map((one) =>
      titled(diamond(x(one.at), laneY(0)), `Checkpoint, ${moment(one.time)} (${one.cause})`),
    ),
    lane("restored", 1, width),
    given.map((one) =>
      titled(
        triangle(x(one.at), laneY(1)),
        `${deliveryName(one.what)}, ${moment(one.time)}: ${count(one.characters, "character")}`,
      ),
    ),
    cursor.line,
    cursor.dot,
  );
  const flags = compactions.map((one) => flag(one, x(one.at), compactionHref));
  return sv(
    "svg",
    {
      width,
      height: HEIGHT,
      viewBox: `0 0 ${width} ${HEIGHT}`,
      role: "group",
      "aria-label": "Context usage over time; compactions are links",
    },
    quiet,
    flags,
  );
}

/** The line through all points, straight down at each compaction. */
function path(points, compactions, x, y) {
  const drops = [];
  let line = "";
  let previous = null;
  const to = (px, py) => (line += `${line ? " L" : "M"}${px.toFixed(1)},${py.toFixed(1)}`);
  for (const point of points) {
    if (previous && point.epoch > previous.epoch) {
      const compaction = compactions.find((one) => one.epoch === point.epoch - 1);
      const at =
        compaction && compaction.at >= previous.at && compaction.at <= point.at ? compaction.at : point.at;
      const from = y(compaction?.tokens_before ?? previous.context);
      const down = y(compaction?.tokens_after ?? point.context);
      to(x(at), from);
      to(x(at), down);
      drops.push({ x: x(at).toFixed(1), from: from.toFixed(1), to: down.toFixed(1) });
    }
    to(x(point.at), y(point.context));
    previous = point;
  }
  return { line, drops };
}

function flag(one, x, compactionHref) {
  const href = compactionHref(one.epoch);
  const words = `Compaction ${one.epoch + 1}, ${moment(one.time)}, ${one.trigger || "unknown trigger"}, from ${tokens(one.tokens_before)} tokens`;
  return sv(
    "a",
    { href, class: "flag", "aria-label": words, "data-key": `flag:${one.epoch}` },
    sv("title", {}, words),
    sv("line", { x1: x, x2: x, y1: TOP - 8, y2: TOP + PLOT }),
    sv("circle", { cx: x, cy: TOP - 19, r: 12 }),
    sv("text", { x, y: TOP - 14.5, "text-anchor": "middle" }, one.epoch + 1),
  );
}

function pauseMark(pause, x, points, axis) {
  const middle = (x(pause.from) + x(pause.to)) / 2;
  const context = points.findLast((one) => one.at <= pause.from)?.context ?? 0;
  // Where the line is not.
  const high = context < axis.top / 2;
  const y = high ? TOP + 8 : TOP + PLOT - 8;
  const long = duration(pause.to - pause.from);
  return sv(
    "g",
    { class: "pause" },
    sv("title", {}, `A pause of ${long}, shortened`),
    sv("rect", { x: x(pause.from), y: TOP, width: Math.max(1, x(pause.to) - x(pause.from)), height: PLOT }),
    sv(
      "text",
      {
        x: middle,
        y,
        transform: `rotate(-90 ${middle} ${y})`,
        dy: 3.5,
        "text-anchor": high ? "end" : "start",
      },
      `pause, ${long}`,
    ),
  );
}

function tick(at, before, x, width) {
  const newDay = before === undefined || dayOf(before) !== dayOf(at);
  const words = newDay ? `${dayOf(at)}, ${clockTime(at)}` : clockTime(at);
  const half = words.length * 3.3;
  const anchor = x < half ? "start" : x > width - half ? "end" : "middle";
  const foot = TOP + PLOT + LANES * LANE + 8;
  return sv(
    "g",
    {},
    sv("line", { class: "grid", x1: x, x2: x, y1: foot - 4, y2: foot }),
    sv("text", { class: "tick", x, y: foot + 15, "text-anchor": anchor }, words),
  );
}

const laneY = (number) => TOP + PLOT + LANE * (number + 0.5) + 3;
const lane = (_name, number, width) =>
  sv("line", { class: "lane", x1: LEFT, x2: width - RIGHT, y1: laneY(number), y2: laneY(number) });
const diamond = (x, y) => sv("path", { class: "checkpoint", d: `M${x},${y - 5} l5,5 l-5,5 l-5,-5 Z` });
const triangle = (x, y) => sv("path", { class: "given", d: `M${x - 5.5},${y + 5} l5.5,-10 l5.5,10 Z` });

function titled(shape, words) {
  shape.append(sv("title", {}, words));
  return shape;
}

function legend() {
  const key = (shape, words) =>
    el("li", {}, sv("svg", { width: 18, height: 14, "aria-hidden": "true" }, shape), words);
  return el(
    "ul",
    { class: "legend", "aria-label": "Legend" },
    key(sv("path", { class: "context", d: "M1,11 L17,3" }), "context, in tokens"),
    key(sv("line", { class: "drop", x1: 9, x2: 9, y1: 1, y2: 13 }), "compaction"),
    key(diamond(9, 7), "checkpoint"),
    key(triangle(9, 7), "restored"),
    key(sv("rect", { class: "pause-key", x: 5, y: 0, width: 8, height: 14 }), "pause, shortened"),
  );
}

function inWords(life, points, scale) {
  const highest = points.reduce((most, one) => (one.context > most.context ? one : most));
  const last = points.at(-1);
  const pauses = scale.pauses.length
    ? ` ${count(scale.pauses.length, "pause")} of more than 25 minutes ${scale.pauses.length === 1 ? "is" : "are"} shortened.`
    : "";
  return (
    `From ${moment(points[0].time)} to ${moment(last.time)}: ${count(life.compactions.length, "compaction")} and ${count(life.checkpoints.length, "checkpoint")}.` +
    ` Peak context ${number(highest.context)} tokens, now ${number(last.context)}.${pauses}`
  );
}
