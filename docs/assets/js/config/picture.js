// The picture of the workbench: pairs against the turns that they make in training, and below it by
// how much each rule slows each pair.

import { largest, list, smallest } from "../positions.js";
import { box, dots, line, words } from "../explore/base.js";
import { general, grouped } from "./python.js";

const [LEFT, RIGHT, TOP] = [46, 114, 22];
// The class of each rule's line in workbench.css.
const KINDS = {
  "as configured": "ink bold",
  none: "",
  interpolation: "pos",
  "NTK-aware": "neg",
  YaRN: "pos dashed",
  "Llama 3": "neg dashed",
};

const log = Math.log10;
const short = (power) => (power >= -3 && power < 4 ? String(Number(`1e${power}`)) : `1e${power}`);

/** The powers of ten from one to another, not more than six, and what stands beside each. */
function decades(low, high) {
  const step = Math.ceil((high - low + 1) / 6);
  const all = list(high - low + 1, (n) => low + n).filter((power) => power % step === 0);
  return all.map((power) => [power, short(power)]);
}

/** A frame with its axes; the ticks beside are [height, text]. */
function panel(wide, top, bottom, count, [low, high], ticks) {
  const right = wide - RIGHT;
  const x = (pair) => LEFT + 6 + (pair / Math.max(count - 1, 1)) * (right - LEFT - 12);
  const y = (height) => top + ((high - height) / (high - low)) * (bottom - top);
  const frame =
    box(LEFT, top, right - LEFT, bottom - top, "rule") +
    ticks.map(([height, text]) => words(LEFT - 7, y(height) + 4, text, "end")).join("");
  return { x, y, frame, right };
}

/** Heights for labels at least 15 apart, as near as possible to where they belong. */
function apart(heights, low, high) {
  const order = heights.map((y, n) => [y, n]).sort(([a, m], [b, n]) => a - b || m - n);
  const placed = [];
  for (const [y, n] of order) placed.push([Math.max(y, (placed.at(-1)?.[0] ?? low - 15) + 15), n]);
  let limit = high;
  for (const one of placed.reverse()) {
    one[0] = Math.min(one[0], limit);
    limit = one[0] - 15;
  }
  return heights.map((_, n) => placed.find(([, own]) => own === n)[0]);
}

/** Pairs against turns in training: those that meet new angles are bold. */
function drawTurns(found, wide, bottom) {
  const turns = found.pairs.map((pair) => pair.turns);
  const some = turns.filter((often) => often > 0);
  const trained = Number(found.trained_length ?? found.length);
  const ratio = Number(found.asked_length) / trained;
  const least = Math.min(0.1, 0.7 / ratio, smallest(some));
  const low = Math.floor(log(Math.max(1e-12, least)));
  const high = Math.ceil(log(Math.max(10, largest(some))));
  const ticks = decades(low, high);
  const { x, y, frame, right } = panel(wide, TOP, bottom, turns.length, [low, high], ticks);
  const at = (pair) => [x(pair), y(log(turns[pair]))];
  const all = [...turns.keys()].filter((pair) => turns[pair] > 0);
  const [fresh, met] = [true, false].map((is) => all.filter((n) => found.pairs[n].unseen === is));
  const asked = y(log(1 / ratio));
  const isApart = ratio !== 1 && asked > TOP && asked < bottom;
  const ends = [y(0), ...(isApart ? [asked] : [])];
  const lengths = [`${grouped(trained)}, trained`, `${grouped(found.asked_length)}, asked`];
  return [
    words(LEFT, 14, "turns of each pair in training", "strong"),
    frame,
    box(LEFT, y(0), right - LEFT, bottom - y(0), "swept"),
    line([[LEFT, y(0)], [right, y(0)]], "ink"),
    isApart ? line([[LEFT, asked], [right, asked]], "ink dashed") : "",
    met.length ? dots(met.map(at), "pos") : "",
    fresh.length ? dots(fresh.map(at), "neg bold") : "",
    ...named(ends, lengths, wide, [TOP, bottom]),
  ].join("");
}

/** What stands at the right of each line of one turn: in which length it is made. */
function named(ends, lengths, wide, [low, high]) {
  const heights = spread(ends, 34, low + 10, high - 14);
  return heights.map((y, n) => {
    const x = wide - RIGHT + 6;
    return words(x, y - 2, "one turn in") + words(x, y + 13, lengths[n]);
  });
}

/** Two heights at least `gap` apart. */
function spread([first, second], gap, low, high) {
  if (second === undefined) return [Math.min(Math.max(first, low), high)];
  const middle = (first + second) / 2;
  const by = Math.max(gap, Math.abs(second - first)) / 2;
  const centre = Math.min(Math.max(middle, low + by), high - by);
  return second > first ? [centre - by, centre + by] : [centre + by, centre - by];
}

/** By how much each rule slows each pair, each line named at its end. */
function drawRules(found, rules, wide, top, bottom) {
  const count = found.pairs.length;
  const all = rules.flatMap(({ slowed }) => slowed).filter(Number.isFinite);
  const high = log(Math.max(2, largest(all))) * 1.08;
  const low = Math.min(-0.04 * high, log(smallest(all)));
  const marks = [1, 2, 4, 8, 16, 32, 64].filter((mark) => log(mark) <= high);
  const ticks = high > 2 ? decades(0, Math.floor(high)) : marks.map((mark) => [log(mark), mark]);
  const { x, y, frame, right } = panel(wide, top, bottom, count, [low, high], ticks);
  const points = (slowed) =>
    slowed.map((by, pair) => [x(pair), y(Number.isFinite(by) ? log(by) : high)]);
  const lines = rules.map(({ name, slowed }) => ({ name, points: points(slowed) })).reverse();
  const ends = lines.map((one) => one.points.at(-1)[1]);
  const heights = apart(ends, top + 8, bottom - 4);
  const drawn = lines.map((one, n) => {
    const end = heights[n];
    const lead = [[right + 2, ends[n]], [right + 10, end], [right + 24, end]];
    return (
      line(one.points, KINDS[one.name]) +
      line(lead, KINDS[one.name]) +
      words(right + 28, end + 4, one.name === "as configured" ? "configured" : one.name)
    );
  });
  const title = `slowed by each rule, for ${grouped(found.asked_length)} positions`;
  return [
    words(LEFT, top - 9, title, "strong"),
    frame,
    ...drawn,
    words(x(0), bottom + 17, "pair 0", "start"),
    words(x(count - 1), bottom + 17, `pair ${count - 1}`, "end"),
  ].join("");
}

/** The picture of one type of layers, as SVG, and what it shows in words. */
export function draw(found, rules, wide, high) {
  if (!rules.length || found.asked_length === null) return { picture: "", alt: "" };
  const split = Math.round(high * 0.52);
  const moving = found.pairs.filter(({ frequency }) => frequency > 0);
  const [first, last] = [moving[0], moving.at(-1)];
  return {
    picture: drawTurns(found, wide, split) + drawRules(found, rules, wide, split + 30, high - 22),
    alt:
      `Pair 0 makes ${general(first.turns, 4)} turns in training, pair ${last.pair} ` +
      `${general(last.turns, 4)}; ${found.never_round} of ${moving.length} lie below one` +
      ` turn, and ${found.unseen} meet new angles. Below, a line for each rule: by how much` +
      " it slows each pair.",
  };
}
