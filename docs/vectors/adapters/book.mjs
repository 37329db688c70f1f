// The book's own JavaScript, as a program that answers the test vectors.
//
//   python -m posenc vectors run -- node docs/vectors/adapters/book.mjs
// SPDX-License-Identifier: MIT

import { createInterface } from "node:readline";
import * as book from "../../assets/js/positions.js";

class Unsupported extends Error {}

/** Stop if something is not offered. */
function needs(condition, what) {
  if (!condition) throw new Unsupported(what);
}

/** Stop if an input has no answer. */
function must(condition, what) {
  if (!condition) throw new Error(what);
}

const isWidth = (d) => Number.isInteger(d) && d >= 2 && d % 2 === 0;
const layouts = ["interleaved", "half"];

/** The frequencies of a rule. */
function frequencies({ rule, d, base = 10000, factor, trained_length, fast = 32, slow = 1, ...rest }) {
  const known = ["default", "linear", "ntk", "yarn"];
  needs(known.includes(rule), `${rule} is not offered`);
  must(isWidth(d) && base > 0, "d must be even, and base positive");
  must(rule === "default" || factor >= 1, "factor must be 1 or more");
  const answer = (omegas, scale = 1) => ({ frequencies: omegas, attention_factor: scale });
  if (rule === "default") return answer(book.frequencies(d, base));
  if (rule === "linear") return answer(book.interpolated(d, factor, base));
  must(rule !== "ntk" || d > 2, "d must be 4 or more");
  if (rule === "ntk") return answer(book.ntk(d, factor, base));
  needs(rest.ramp === "turns", "the ramp of released code is not offered");
  return answer(book.yarn(d, factor, trained_length, base, fast, slow), book.temperature(factor));
}

/** Vectors rotated at their positions. */
function rotation({ x, positions, layout = "interleaved", base = 10000, frequencies: given, rotary_d, ...more }) {
  needs(Object.keys(more).length === 0, "only the first dimensions, in pairs of their own");
  must(layouts.includes(layout), "layout must be known");
  must(base > 0, "base must be positive");
  if (Array.isArray(x[0][0])) {
    const shared = !Array.isArray(positions[0]);
    return x.map((inner, n) =>
      rotation({ x: inner, positions: shared ? positions : positions[n], layout, base, frequencies: given, rotary_d }),
    );
  }
  must(positions.length === x.length, "positions must be one for each vector");
  const part = rotary_d ?? x[0].length;
  must(isWidth(part) && isWidth(x[0].length) && part <= x[0].length, "the width must be even");
  const omegas = given ?? book.frequencies(part, base);
  must(omegas.length === part / 2, "frequencies must be one for each pair");
  return x.map((row, n) => [
    ...book.rope(row.slice(0, part), positions[n], omegas, layout),
    ...row.slice(part),
  ]);
}

/** The scores of rotated queries and keys. */
function scores({ query, key, query_positions, key_positions, ...how }) {
  must(query[0].length === key[0].length, "queries and keys must be of one width");
  const queries = rotation({ x: query, positions: query_positions, ...how });
  const keys = rotation({ x: key, positions: key_positions, ...how });
  return queries.map((q) => keys.map((k) => book.score(q, k)));
}

/** A row for each position. */
function sinusoidal({ positions, d_model, base, order, first, shift }) {
  must(isWidth(d_model) && base > 0, "d_model must be even, and base positive");
  must(["interleaved", "halves"].includes(order), "order must be known");
  must(["sine", "cosine"].includes(first), "first must be known");
  must(shift === 0 || d_model > 2, "shift must be 0 for one pair");
  needs(order === "interleaved" && first === "sine" && shift === 0, "only the order of the paper");
  return positions.map((p) => book.encodingRow(p, d_model, base));
}

/** ALiBi's slopes. */
function alibi({ heads, ...more }) {
  needs(Object.keys(more).length === 0, "only all heads");
  must(Number.isInteger(heads) && heads > 0, "heads must be an integer, 1 or more");
  return book.slopes(heads);
}

/** ALiBi's bias. */
function alibi_bias({ heads, query_length, key_length, query_offset = 0, causal }) {
  must(query_length >= 0 && key_length >= 0 && query_offset >= 0, "lengths must not be negative");
  const entry = (slope, q, k) => book.linearBias(slope, q + query_offset, k, causal);
  return alibi({ heads }).map((slope) =>
    book.list(query_length, (q) => book.list(key_length, (k) => entry(slope, q, k))),
  );
}

/** T5's buckets. */
function t5({ relative, bidirectional, buckets, max_distance }) {
  const side = bidirectional ? buckets / 2 : buckets;
  must(Number.isInteger(side) && side >= 2, "buckets must be 2 or more on each side, and even");
  must(max_distance > Math.floor(side / 2), "max_distance must be above the exact range");
  const starts = book.bucketStarts(bidirectional, buckets, max_distance);
  const one = (r) => {
    must(Number.isInteger(r), "relative must be integers");
    return book.bucket(r, starts, bidirectional);
  };
  const all = (value) => (Array.isArray(value) ? value.map(all) : one(value));
  return all(relative);
}

const answers = { frequencies, rotation, scores, sinusoidal, alibi, alibi_bias, t5 };

function answer({ request, suite, input }) {
  if (request === "capabilities") return { suites: Object.keys(answers), contract: "float64" };
  try {
    return { ok: answers[suite](input) };
  } catch (error) {
    return { [error instanceof Unsupported ? "unsupported" : "refused"]: error.message };
  }
}

// JSON has no infinity.
const spelled = (key, value) => (value === -Infinity ? "-Infinity" : value);

for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  console.log(JSON.stringify({ id: asked.id, ...answer(asked) }, spelled));
}
