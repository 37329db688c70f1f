// Clocks: a row of the table as hands, and the same hands turning a query and a key.

import { encodingRow, frequencies, list, printed, printedTurn } from "../positions.js";
import { rope, score, wavelength } from "../positions.js";
import { BASE, KEY, QUERY, box, dial, explorer, line, words } from "./base.js";

const [NARROW, WIDEST] = [560, 120]; // of the picture; of a dial
const [BEAT, SWEEP] = [1000, 600]; // milliseconds from step to step, and of the hands' movement
const RELATIVE = { label: "key − query", value: 2, min: -64, max: 64 };
const POSITION = { label: "position", value: 7, min: 0, max: 100_000 };
POSITION.stops = [...list(64, (n) => n), ...list(11, (n) => 2 ** (n + 6))];

const rounded = (numbers) => numbers.map((number) => printed(number, 3));
const halves = (x) => list(x.length / 2, (pair) => x.slice(2 * pair, 2 * pair + 2));

/** The hands of a row, each from the top, and what stands beneath: its sine and cosine. On the
    way to a place the position is not yet there. */
function readRow({ width, base, position, place = position }) {
  const row = encodingRow(position, width, base);
  const hands = halves(row);
  const omegas = frequencies(width, base);
  const read = hands.map((hand) => rounded(hand).join(", "));
  const told = (pair) => {
    const [across, up] = rounded(hands[pair]);
    const turn = printedTurn(wavelength(pair, width, base));
    return `pair ${pair} points ${across} across and ${up} up and turns once in ${turn} positions`;
  };
  const last = omegas.length - 1;
  return {
    dials: hands.map((hand, pair) => {
      return { from: [0, 1], to: hand, turn: -Math.min(position * omegas[pair], 2 * Math.PI) };
    }),
    cells: hands,
    heads: ["sin", "cos"],
    total: `position ${place}: a row of the table`,
    alt: `Clocks at position ${place}; sine, cosine: ${read.join("; ")}`,
    says: `Position ${place}: ${told(0)}${last ? `; ${told(last)}` : ""}.`,
  };
}

/** The hands of a query and a key, anticlockwise from the right as everywhere for RoPE, and each
    pair's share of the score. */
function readScore({ width, base, position, relative, place = position }) {
  const omegas = frequencies(width, base);
  const turned = (x, place) => rope(x.slice(0, width), place, omegas);
  const both = (place) => [turned(QUERY, place), turned(KEY, place + relative)];
  const [queries, keys] = both(position).map(halves);
  const shares = queries.map((query, pair) => score(query, keys[pair]));
  const [sum, start] = rounded([position, 0].map((place) => score(...both(place))));
  const other = printed(place + relative, 0);
  return {
    dials: queries.map((to, pair) => {
      const from = keys[pair];
      return { from, to, turn: Math.atan2(from[0] * to[1] - from[1] * to[0], shares[pair]) };
    }),
    cells: shares.map((share) => [share]),
    heads: ["share"],
    total: `score, the sum: ${sum}`,
    alt: `Query at ${place}, key at ${other}; share of each pair: ${rounded(shares).join("; ")}`,
    says:
      `Query, solid, at ${place}, key, dashed, at ${other}: the shares add up to a score of ` +
      `${sum}. With the query at 0 and the key at ${printed(relative, 0)}, the score is ${start}.`,
  };
}

/** A cell of the table, tinted by its value. */
function cell(x, y, wide, value) {
  const kind = `class="entry ${value < 0 ? "neg" : "pos"}" style="--v:${Math.abs(value)}"`;
  return (
    `<rect ${kind} x="${x - wide / 2}" y="${y}" width="${wide}" height="24"/>` +
    words(x, y + 17, printed(value, 3), "middle")
  );
}

function drawClocks(state, wide, high) {
  const read = state.show === "row" ? readRow : readScore;
  const { dials, cells, heads, total, alt, says } = read(state);
  const rows = wide < NARROW && dials.length > 1 ? 2 : 1;
  const columns = Math.ceil(dials.length / rows);
  const across = Math.min(wide / columns, WIDEST);
  const left = (wide - columns * across) / 2;
  const down = (high - 26) / rows;
  const radius = Math.floor(Math.min(across / 2 - 5, (down - 72) / 2));
  const span = across / heads.length;
  const clocks = dials.map(({ from, to, turn }, pair) => {
    const [x, top] = [left + ((pair % columns) + 0.5) * across, Math.floor(pair / columns) * down];
    const foot = top + 2 * radius + 24;
    const middle = (n) => x + (n - (heads.length - 1) / 2) * span;
    return (
      words(x, top + 14, `pair ${pair}`, "middle strong") +
      dial(x, top + 22 + radius, radius, from, to, turn) +
      heads.map((head, n) => words(middle(n), foot + 14, head, "middle")).join("") +
      cells[pair].map((value, n) => cell(middle(n), foot + 20, span, value)).join("")
    );
  });
  const rules = list(rows, (n) => {
    const foot = n * down + 2 * radius + 44.5;
    const end = left + Math.min(columns, dials.length - n * columns) * across;
    return [0, 24].map((y) => line([[left, foot + y], [end, foot + y]], "ink")).join("");
  });
  const size = `min(0.75rem, ${((wide / columns / 2 - 4) / 2.9).toFixed(1)}px)`;
  return {
    picture:
      `<g style="font-size:${size}">${clocks.join("")}</g>${rules.join("")}` +
      words(wide / 2, (rows - 1) * down + 2 * radius + 94, total, "middle strong"),
    alt,
    says,
  };
}

/** Add a button that moves the position on, a step each second, while the clocks are in view. */
function addPlay(element) {
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const button = document.createElement("button");
  let [frame, since, swept] = [0, 0, 1];
  const stop = () => {
    if (!frame) return;
    cancelAnimationFrame(frame);
    frame = 0;
    button.textContent = "Play";
    element.status.ariaLive = "polite";
    element.show(); // now it is read out
  };
  const step = (position) => {
    [since, swept] = [performance.now(), still.matches ? 1 : 0];
    element.change({ position });
  };
  const run = (now) => {
    if (now - since >= BEAT) {
      if (element.state.position === POSITION.max) return stop();
      step(element.state.position + 1);
    }
    if (swept < 1) {
      swept = Math.min(Math.max((now - since) / SWEEP, 0), 1);
      const eased = swept * swept * (3 - 2 * swept);
      const place = element.state.position;
      element.paint({ ...element.state, place, position: Math.max(place - 1 + eased, 0) });
    }
    frame = requestAnimationFrame(run);
  };
  const start = () => {
    button.textContent = "Pause";
    element.status.ariaLive = "off";
    step((element.state.position + 1) % (POSITION.max + 1));
    frame = requestAnimationFrame(run);
  };
  button.type = "button";
  button.textContent = "Play";
  button.addEventListener("click", () => (frame ? stop() : start()));
  element.querySelector(".knob label").after(button);
  new IntersectionObserver(([{ isIntersecting }]) => isIntersecting || stop()).observe(element.stage);
  document.addEventListener("visibilitychange", stop);
}

explorer("clocks", {
  title: "Clocks",
  controls: {
    position: POSITION,
    show: { label: "show", value: "row", options: ["row", "score"] },
    width: { label: "width", value: 16, min: 2, max: 16, step: 2 },
    base: BASE,
    relative: RELATIVE,
  },
  draw: drawClocks,
  start: addPlay,
});
