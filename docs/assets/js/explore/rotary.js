// Rotary positions: RoPE, the two layouts of its pairs, and its base beyond training.

import {
  convertLayout,
  frequencies,
  interpolated,
  list,
  ntk,
  pairs,
  printed,
  rope,
  score,
  turns,
  yarn,
} from "../positions.js";
import { BASE, KEY, QUERY, WIDTH, box, dial, dots, explorer } from "./base.js";
import { line, plot, reading, words } from "./base.js";

const SMALL = { label: "width", value: 8, min: 2, max: 8, step: 2 };
const RELATIVE = { label: "key − query", min: -64, max: 64 };
const PAIR = { label: "pair", min: 0, max: ({ width }) => width / 2 - 1 };

function drawRope({ width, base, query, relative }, wide, high) {
  const omegas = frequencies(width, base);
  const turned = (x, position) => rope(x.slice(0, width), position, omegas);
  const scored = (position) => score(turned(QUERY, position), turned(KEY, position + relative));
  const hands = [turned(QUERY, query), turned(KEY, query + relative)];
  const radius = Math.min(wide / width - 6, high / 2 - 26);
  const dials = omegas.map((_, pair) => {
    const [q, k] = hands.map((x) => x.slice(2 * pair, 2 * pair + 2));
    const [x, share] = [((pair + 0.5) * wide) / omegas.length, score(q, k)];
    return (
      dial(x, high / 2, radius, k, q, Math.atan2(k[0] * q[1] - k[1] * q[0], share)) +
      words(x, high / 2 - radius - 11, `pair ${pair}`, "middle strong") +
      words(x, high / 2 + radius + 21, `q · k ${printed(share, 3)}`, "middle")
    );
  });
  return {
    picture: dials.join(""),
    says:
      `Query, solid, at ${query}, key, dashed, at ${printed(query + relative, 0)}: the score is ` +
      `${printed(scored(query), 3)}, the sum of the dot products q · k of the pairs. With the ` +
      `query at 0 and the key at ${printed(relative, 0)}, the score is ${printed(scored(0), 3)}.`,
  };
}

explorer("rope", {
  title: "A query, solid, and a key, dashed, each turned by its position",
  controls: {
    width: { ...SMALL, value: 4 },
    base: { ...BASE, value: 100 },
    query: { label: "query position", value: 4, min: 0, max: 128 },
    relative: { ...RELATIVE, value: 2 },
  },
  draw: drawRope,
});

const LAYOUTS = ["interleaved", "half"];
const SPAN = [-16, 16];
const KINDS = ["pos", "neg dashed", "ink bold"];

/** The pair of each dimension in both layouts, and its place after conversion. */
function strips(width, pair, wide) {
  const [from, to] = LAYOUTS.map((layout) => pairs(width, layout).flat());
  const middle = (place) => ((place + 0.5) * wide) / width;
  return [from, to].flatMap((all, row) =>
    all.map((place, n) => {
      const [x, y, own] = [middle(place), 22 + 60 * row, n >> 1 === pair];
      return (
        line([[middle(from[n]), 46], [middle(to[n]), 82]], own ? "ink bold" : "") +
        box(x + 1 - middle(0), y, 2 * middle(0) - 2, 24, own ? "ink swept" : "") +
        words(x, y + 17, n >> 1, own ? "middle strong" : "middle")
      );
    }),
  );
}

function drawLayouts({ width, pair, relative }, wide, high) {
  const vectors = [QUERY, KEY].map((x) => x.slice(0, width));
  const moved = vectors.map((x) => convertLayout(x, ...LAYOUTS));
  const scored = (place, layout, [q, k] = vectors) =>
    score(q, rope(k, place, frequencies(width), layout));
  const places = [-16, -8, 0, 8, 16];
  const { x, y, frame } = plot(wide, 172, high - 26, SPAN, [-3, 3], places, [-3, 0, 3]);
  const curves = LAYOUTS.map((layout, n) => {
    const at = (place) => [x(place), y(scored(place, layout))];
    return line(list(129, (k) => at(k / 4 - 16)), KINDS[n]) + dots([at(relative)], "ink bold");
  });
  const named = LAYOUTS.map((layout, n) => {
    const side = 1 - 2 * n; // above a crest, below a trough
    const worth = (place) => side * (2 * scored(place, layout) - scored(place, LAYOUTS[1 - n]));
    const place = list(81, (k) => k / 4 - 10).reduce((a, b) => (worth(b) > worth(a) ? b : a));
    const name = n ? "not converted" : "correct score";
    return words(x(place), y(scored(place, layout)) + 6 - 14 * side, name, "middle strong named");
  });
  const own = LAYOUTS.map((layout) => pairs(width, layout)[pair].join(" and "));
  const scores = [
    scored(relative, "interleaved"),
    scored(relative, "half"),
    scored(relative, "half", moved),
  ].map((value) => printed(value, 3));
  return {
    picture: [
      words(0, 15, "interleaved: the pair of each dimension"),
      ...strips(width, pair, wide),
      words(0, 124, "half"),
      words(48, 163, "score by relative position"),
      frame,
      ...curves,
      ...named,
    ].join(""),
    says:
      `Pair ${pair} consists of dimensions ${own[0]} in the interleaved layout, ${own[1]} in the ` +
      `half layout. At relative position ${printed(relative, 0)} these interleaved vectors score ` +
      `${scores[0]}; rotated in the half layout they score ${scores[1]}, or ${scores[2]} if ` +
      "converted first.",
  };
}

explorer("layouts", {
  title: "The pair of each dimension in either layout, and scores by relative position",
  controls: {
    width: SMALL,
    pair: { ...PAIR, value: 1 },
    relative: { ...RELATIVE, value: 4, min: SPAN[0], max: SPAN[1] },
  },
  draw: drawLayouts,
  point: (x, y, state, wide) => ({ relative: reading(x, wide, SPAN) }),
});

const span = ({ width }) => [-0.5, width / 2 - 0.5];

function drawBase(state, wide, high) {
  const { width, base, trained, factor, pair, fast, slow } = state;
  const plain = turns(frequencies(width, base), trained);
  const rules = {
    interpolation: turns(interpolated(width, factor, base), trained),
    "NTK-aware": turns(ntk(width, factor, base), trained),
    YaRN: turns(yarn(width, factor, trained, base, fast, slow), trained),
  };
  const last = plain.length - 1;
  const low = Math.floor(Math.log10(Math.min(0.1, plain[last] / factor)));
  const top = Math.ceil(Math.log10(Math.max(1, plain[0])));
  const logs = list(top - low + 1, (n) => n + low).map((log) => [
    log,
    Math.abs(log) > 3 ? `1e${log}` : 10 ** log,
  ]);
  const ys = [low, top + 0.2];
  const { x, y, frame } = plot(wide, 34, high - 26, span(state), ys, [[0, "pair 0"], last], logs);
  const points = (all) => all.map((turn, n) => [x(n), y(Math.log10(turn))]);
  const name = (text, all, n, right, down) =>
    words(x(n) + right, y(Math.log10(all[n])) + down, text, "strong named");
  const part = (share) => Math.round(share * last);
  const under = Math.min(last, Math.ceil(reading(150, wide, span(state)))); // the end of the word
  const never = plain.filter((turn) => turn < 1).length;
  const slowed = Object.entries(rules).map(
    ([name, all]) => `${printed(plain[pair] / all[pair], 2)} (${name})`,
  );
  return {
    picture: [
      box(x(-0.5), y(0), x(last + 0.5) - x(-0.5), y(low) - y(0), "swept"),
      frame,
      words(x(-0.5) + 8, y(low) - 8, "less than one turn in training"),
      words(48, 24, "turns of each pair within the training length"),
      ...Object.values(rules).map((all, n) => line(points(all), KINDS[n])),
      dots(points(plain), "ink"),
      dots([points(plain)[pair]], "ink bold"),
      name("YaRN", rules.YaRN, part(0.25), 6, -8),
      name("as trained", plain, part(0.5), 6, -8),
      name("NTK", rules["NTK-aware"], part(0.12), -29, 15),
      name("interpolation", rules.interpolation, under, x(0) - x(under), 18),
    ].join(""),
    says:
      `Within ${trained} positions, ${never} of ${last + 1} pairs complete no turn. Pair ${pair} ` +
      `turns ${Number(plain[pair].toPrecision(3))} times; for sequences ${factor} times as long ` +
      `it is slowed by a factor of ${slowed.join(", ")}.`,
  };
}

explorer("base", {
  title: "Turns of each pair within the training length",
  controls: {
    width: { ...WIDTH, value: 128, min: 4, stops: WIDTH.stops.slice(1) },
    base: BASE,
    trained: {
      ...{ label: "trained on", value: 4096, min: 1, max: 1e6 },
      stops: WIDTH.stops.map((n) => 64 * n),
    },
    factor: { label: "times as long", value: 8, min: 1, max: 64, step: 0 },
    pair: { ...PAIR, value: 50 },
    fast: { label: "YaRN’s β", value: 32, min: 1, max: 1000, step: 0 },
    slow: { label: "YaRN’s α", value: 1, min: 0, max: ({ fast }) => fast - 0.5, step: 0 },
  },
  draw: drawBase,
  point: (x, y, state, wide) => ({ pair: reading(x, wide, span(state)) }),
});
