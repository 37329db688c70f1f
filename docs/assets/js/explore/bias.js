// Biases on relative position: the lines of ALiBi, and the buckets of T5.

import { bucket, bucketStarts, largest, linearBias, list, printed, slopes } from "../positions.js";
import { box, dots, explorer, line, plot, reading, words } from "./base.js";

function drawAlibi({ heads, farthest, head, distance }, wide, high) {
  const all = slopes(heads);
  const least = linearBias(largest(all), farthest, 0);
  const ends = [least, 0].map((value) => [value, printed(value, value < -9 ? 0 : 2)]);
  const above = plot(wide, 24, high - 130, [-farthest, 0], [least, 0], [-farthest, 0], ends);
  const logs = [[0, 1], [-8, "1/256"]];
  const below = plot(wide, high - 78, high - 26, [0, heads + 1], [-9, 0.5], [1, heads], logs);
  const marks = all.map((slope, n) => {
    const chosen = n + 1 === head;
    const kind = chosen ? "ink bold" : "pos";
    const at = (far) => [above.x(-far), above.y(linearBias(slope, far, 0))];
    const dot = [below.x(n + 1), below.y(Math.log2(slope))];
    return line([at(farthest), at(0)], kind) + dots(chosen ? [at(distance), dot] : [dot], kind);
  });
  const own = all[head - 1];
  const added = linearBias(own, distance, 0);
  return {
    picture:
      words(48, 15, "bias by relative position") +
      words(48, high - 88, "slope by head") +
      above.frame +
      below.frame +
      marks.join(""),
    says:
      `Head ${head} of ${heads} has slope ${own.toPrecision(3)}. To a key ${distance} behind it ` +
      `adds ${printed(added, 3)}, a factor of ${Number(Math.exp(added).toPrecision(3))} before ` +
      "weights are made to sum to 1.",
  };
}

explorer("alibi", {
  title: "Bias by relative position, and the slope of each head",
  controls: {
    heads: { label: "heads", value: 8, min: 1, max: 128 },
    head: { label: "head", value: 3, min: 1, max: ({ heads }) => heads },
    farthest: {
      ...{ label: "farthest", value: 64, min: 1, max: 4096 },
      stops: list(9, (n) => 2 ** (n + 4)),
    },
    distance: { label: "behind", value: 16, min: 0, max: ({ farthest }) => farthest },
  },
  draw: drawAlibi,
  point: (x, y, { farthest }, wide) => ({ distance: -reading(x, wide, [-farthest, 0]) }),
});

// The picture and the slider are linear for near positions and logarithmic for farther ones.
const REACH = 1024;
const SPAN = [-1, 1].map((side) => side * Math.asinh(REACH / 4));
const TICKS = [-1000, -100, -10, 0, 10, 100, 1000].map((place) => [Math.asinh(place / 4), place]);
const STOPS = list(49, (n) => Math.round(4 * Math.sinh(((n - 24) * SPAN[1]) / 24)));

function drawBuckets({ model, end, buckets, relative }, wide, high) {
  const starts = bucketStarts(model === "encoder", buckets, end);
  const exact = Math.floor(starts.length / 2);
  const of = (place) => bucket(place, starts, model === "encoder");
  const places = list(2 * REACH + 1, (n) => n - REACH);
  const held = places.filter((place) => of(place) === of(relative));
  const { x, y, frame } = plot(wide, 24, high - 26, SPAN, [-1, buckets], TICKS, [0, buckets - 1]);
  const at = (place) => [x(Math.asinh(place / 4)), y(of(place))];
  const [from, to] = [held[0] - 0.5, held.at(-1) + 0.5].map((place) => at(place)[0]);
  return {
    picture:
      words(48, 15, "bucket by relative position") +
      box(from, 24, to - from, high - 50, "swept") +
      frame +
      dots(places.map(at), "pos") +
      dots([at(relative)], "ink bold"),
    says:
      `Relative position ${printed(relative, 0)} falls into bucket ${of(relative)}, with all ` +
      `shown from ${printed(held[0], 0)} to ${printed(held.at(-1), 0)}. Distances below ${exact} ` +
      `have a bucket each; the last bucket begins at ${starts.at(-1)}.`,
  };
}

explorer("t5", {
  title: "T5's bucket by relative position",
  controls: {
    model: { label: "model", value: "encoder", options: ["encoder", "decoder"] },
    end: {
      ...{ label: "max distance", value: 128, min: 3, max: 512 },
      stops: list(8, (n) => 2 ** (n + 2)),
    },
    buckets: {
      ...{ label: "buckets", value: 32, min: 4, step: 2 },
      max: ({ model, end }) => Math.min(64, (model === "encoder" ? 4 : 2) * end - 2),
    },
    relative: { label: "key − query", value: -9, min: -REACH, max: REACH, stops: STOPS },
  },
  draw: drawBuckets,
  point: (x, y, state, wide) => ({ relative: 4 * Math.sinh(reading(x, wide, SPAN)) }),
});
