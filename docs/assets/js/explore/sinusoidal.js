// The sinusoidal encoding: its table, its waves, the similarity of its rows, its shift.

import { encodingRow, frequency, list, printed, printedTurn } from "../positions.js";
import { score, shiftMatrix, similarity, wavelength } from "../positions.js";
import { BASE, WIDTH, box, dial, dots, explorer, line, plot, reading, words } from "./base.js";

const rounded = (numbers) => numbers.map((number) => printed(number, 3));

/** The first of up to four pairs, and the list of them. */
const PAIR = { label: "first pair", value: 0, min: 0, max: ({ width }) => Math.max(width / 2 - 4, 0) };
const fourPairs = ({ width, pair }) => list(Math.min(4, width / 2), (n) => pair + n);

// The table: sines above, cosines below, and one row of them read out.

const [LEFT, TOP] = [34, 24];

/** An image with one pixel per cell, whose opacity is the size of the values of one sign. */
function pixels(rows, sign) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [rows[0].length, rows.length];
  const context = canvas.getContext("2d");
  const image = context.createImageData(canvas.width, canvas.height);
  rows.flat().forEach((value, n) => (image.data[4 * n + 3] = 255 * Math.max(sign * value, 0)));
  context.putImageData(image, 0, 0);
  return `<image width="1" height="1" preserveAspectRatio="none" href="${canvas.toDataURL()}"/>`;
}

/** The page's colour for a sign, with the image as its mask. */
function ink(kind, id, rows, place) {
  const mask = `<mask id="${id}" maskContentUnits="objectBoundingBox">`;
  const image = pixels(rows, kind === "pos" ? 1 : -1);
  return `${mask}${image}</mask><g mask="url(#${id})">${box(...place, kind)}</g>`;
}

function drawTable({ width, positions, base, row }, wide, high) {
  const rows = list(positions, (position) => encodingRow(position, width, base));
  const [across, down] = [wide - LEFT - 2, high / 2 - TOP - 2];
  const cell = down / positions;
  const halves = ["sines", "cosines"].map((name, hand) => {
    const top = TOP + (hand * high) / 2;
    const own = rows.map((entries) => entries.filter((_, n) => n % 2 === hand));
    const place = [LEFT, top, across, down];
    const line = Math.min(top + (row + 0.5) * cell + 5, top + down - 1); // the last is not cut off
    return (
      ["pos", "neg"].map((kind) => ink(kind, `${name}-${kind}`, own, place)).join("") +
      box(...place, "rule") +
      words(LEFT, top - 8, `${name}, pairs 0 to ${width / 2 - 1}`) +
      words(LEFT - 7, line, row, "end strong") +
      box(LEFT - 2, top + row * cell - 1, across + 4, cell + 2, "ink")
    );
  });
  const entries = rounded(rows[row]);
  if (width > 8) entries.splice(6, width - 8, "…");
  return {
    picture: halves.join(""),
    says: `Row ${row}, dimensions 0 to ${width - 1}: ${entries.join(", ")}.`,
  };
}

explorer("heatmap", {
  title: "The encoding, a row for each position",
  controls: {
    width: { ...WIDTH, value: 64 },
    positions: { label: "positions", value: 64, min: 2, max: 128 },
    base: BASE,
    row: { label: "row", value: 7, min: 0, max: ({ positions }) => positions - 1 },
  },
  draw: drawTable,
  point: (x, y, { positions }, wide, high) => ({
    row: (((y % (high / 2)) - TOP) / (high / 2 - TOP - 2)) * positions - 0.5,
  }),
});

// Waves: four pairs, each with its true wavelength, and a position on all of them.

const [LAST, NAMES, RIGHT] = [64, 86, 10];

function drawWaves(state, wide, high) {
  const { width, base, position } = state;
  const pairs = fourPairs(state);
  const turns = pairs.map((pair) => wavelength(pair, width, base));
  const strip = (high - 22) / pairs.length;
  const x = (place) => NAMES + (place / LAST) * (wide - NAMES - RIGHT);
  const strips = pairs.map((pair, n) => {
    const middle = (n + 0.5) * strip;
    const at = (p) => [x(p), middle - Math.sin(p * frequency(pair, width, base)) * strip * 0.38];
    return (
      box(NAMES, n * strip + 2, x(Math.min(turns[n], LAST)) - NAMES, strip - 4, "swept") +
      line([[NAMES, middle], [x(LAST), middle]], "rule") +
      line(list(8 * LAST + 1, (k) => at(k / 8)), "pos") +
      dots(list(LAST + 1, at), "pos") +
      dots([at(position)], "ink bold") +
      words(0, middle - 4, `pair ${pair}`, "strong") +
      words(0, middle + 15, `turn ${printedTurn(turns[n])}`)
    );
  });
  const ticks = ["0", "16", "position 32", "48", "64"];
  const axis = ticks.map((tick, n) => words(x(16 * n), high - 4, tick, "middle"));
  return {
    picture: strips.join("") + axis.join(""),
    says:
      `Pair ${pairs.join(", ")}: one turn, shaded, takes ${turns.map(printedTurn).join(", ")} ` +
      `positions; position ${position} comes after ` +
      `${rounded(turns.map((turn) => position / turn)).join(", ")} turns.`,
  };
}

explorer("waves", {
  title: "The sines of four pairs",
  controls: {
    width: WIDTH,
    base: BASE,
    pair: PAIR,
    position: { label: "position", value: 7, min: 0, max: LAST },
  },
  draw: drawWaves,
  point: (x, y, state, wide) => ({ position: ((x - NAMES) / (wide - NAMES - RIGHT)) * LAST }),
});

// The similarity of two rows by their distance; hatched where farther rows are more alike.

const HATCH =
  '<pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" ' +
  'patternTransform="rotate(45)"><path d="M0 0V6"/></pattern>';

function drawSimilarity({ width, base, farthest, distance }, wide, high) {
  const alike = list(farthest + 1, (lag) => similarity(lag, width, base));
  const rises = list(farthest, (lag) => lag).filter((lag) => alike[lag + 1] > alike[lag]);
  const [top, bottom, low] = [10, high - 28, Math.min(0, ...alike)];
  const below = [0, [farthest / 2, `${farthest / 2} positions apart`], farthest];
  const { x, y, frame } = plot(wide, top, bottom, [0, farthest], [low, 1], below, [0, 0.5, 1]);
  const points = alike.map((value, lag) => [x(lag), y(value)]);
  const hatch = (lag) => box(x(lag), top, x(1) - x(0), bottom - top, "hatch");
  const less = alike.slice(1, distance).filter((value) => value < alike[distance]).length;
  const nearer = distance > 1 ? `; lower at ${less} of ${distance - 1} smaller distances` : "";
  return {
    picture:
      HATCH +
      rises.map(hatch).join("") +
      frame +
      line(points, "pos") +
      (farthest > 128 ? "" : dots(points, "pos")) +
      dots([points[distance]], "ink bold"),
    says:
      `${distance} apart: similarity ${printed(alike[distance], 3)}${nearer}. ` +
      `It rises, hatched, in ${rises.length} of ${farthest} steps` +
      (rises.length ? `, first after ${rises[0]}.` : "."),
  };
}

const stops = list(7, (n) => 2 ** (n + 4));

explorer("similarity", {
  title: "Cosine similarity by distance",
  controls: {
    width: WIDTH,
    base: BASE,
    farthest: { label: "farthest", value: 64, min: 2, max: 1024, step: 2, stops },
    distance: { label: "distance", value: 6, min: 0, max: ({ farthest }) => farthest },
  },
  draw: drawSimilarity,
  point: (x, y, { farthest }, wide) => ({ distance: reading(x, wide, [0, farthest]) }),
});

// From one row to another at an offset: every pair turns by its own angle.

const own = (row, pair) => row.slice(2 * pair, 2 * pair + 2);

function drawShift(state, wide, high) {
  const { width, position, offset } = state;
  const pairs = fourPairs(state);
  const row = encodingRow(position, width);
  const moved = shiftMatrix(offset, width).map((line) => score(line, row));
  const turns = pairs.map((pair) => offset * frequency(pair, width));
  const radius = Math.min(wide / 8 - 6, high / 2 - 26);
  const dials = pairs.map((pair, n) => {
    const [x, y] = [((n + 0.5) * wide) / 4, high / 2];
    const swept = Math.max(-2 * Math.PI, Math.min(2 * Math.PI, turns[n]));
    return (
      dial(x, y, radius, own(row, pair), own(moved, pair), -swept) + // clocks turn to the right
      words(x, y - radius - 8, `pair ${pair}`, "middle strong") +
      words(x, y + radius + 18, `${printed(turns[n], 3)} rad`, "middle")
    );
  });
  const [from, to] = [row, moved].map((all) => rounded(own(all, pairs[0])).join(", "));
  return {
    picture: dials.join(""),
    says:
      `A shift by ${printed(offset, 0)} turns pair ${pairs.join(", ")} by ` +
      `${rounded(turns).join(", ")} radians, whatever the row. It takes pair ${pairs[0]} ` +
      `from (${from}) in row ${position} to (${to}) in row ${printed(position + offset, 0)}.`,
  };
}

explorer("shift", {
  title: "Rows as clock hands, before and after a shift",
  controls: {
    width: { ...WIDTH, max: 128, stops: WIDTH.stops.slice(0, 7) },
    pair: PAIR,
    position: { label: "position", value: 4, min: 0, max: 1000 },
    offset: { label: "offset", value: 2, min: -64, max: 64 },
  },
  draw: drawShift,
});
