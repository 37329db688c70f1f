// What can be done to a trained model for a text longer than those it was trained on: the variants of
// scripts/measure/methods.py, by their names there.

import {
  dynamic,
  frequencies,
  interpolated,
  llama3,
  longrope,
  longropeTemperature,
  ntk,
  yarn as released,
  yarnTemperature,
} from "../config/scaling.js";
import { yarn } from "../positions.js";

const BASE = 10000;
const FAST = 32; // turns: the limits that YaRN's authors chose for Llama models
const SLOW = 1;
const turnsOfFastest = (trained) => trained / (2 * Math.PI);

/** The frequencies of a head of width d; for YaRN and LongRoPE also a temperature, by which queries
    and keys are multiplied. Each is set for a text of some length, `factor` times the trained one. */
const ROTATIONS = {
  rope: ({ d }) => [frequencies(d, BASE)],
  "rope, interpolated": ({ d, factor }) => [interpolated(d, factor, BASE)],
  "rope, NTK-aware": ({ d, factor }) => [ntk(d, factor, BASE)],
  "rope, dynamic NTK": ({ d, factor, trained, length }) => [
    dynamic(d, length, { factor, trained, base: BASE }),
  ],
  "rope, Llama 3's rule": (given) => [llama(given, 4)],
  "rope, Llama 3's rule with fitted limits": (given) => [
    llama(given, turnsOfFastest(given.trained)),
  ],
  "rope, YaRN with fitted limits": (given) => byTurns(given, turnsOfFastest(given.trained)),
  "rope, YaRN with Llama's limits": (given) => byTurns(given, FAST),
  "rope, YaRN as released": (given) => byPairs(given, true),
  "rope, YaRN without truncation": (given) => byPairs(given, false),
  "rope, LongRoPE": searched,
  windows_none: ({ d }) => [frequencies(d, BASE)],
  "windows_none, log n": ({ d }) => [frequencies(d, BASE)],
};

const llama = ({ d, factor, trained }, high) =>
  llama3(d, { factor, trained, low: SLOW, high, base: BASE });

const byTurns = ({ d, factor, trained }, fast) => [
  yarn(d, factor, trained, BASE, fast, SLOW),
  yarnTemperature(factor),
];

const byPairs = ({ d, factor, trained }, truncate) => [
  released(d, { factor, trained, base: BASE, fast: FAST, slow: SLOW, truncate }),
  yarnTemperature(factor),
];

/** LongRoPE's divisors were searched for at a few lengths; any other takes those of the next one. */
function searched({ d, trained, length, divisors }) {
  const known = Object.keys(divisors).map(Number).sort((a, b) => a - b);
  const set = length > trained ? (known.find((one) => one >= length) ?? known.at(-1)) : length;
  const ones = Array(d / 2).fill(1);
  const given = { short: ones, long: divisors[set] ?? ones, trained, base: BASE };
  return [longrope(d, set, given), longropeTemperature(Math.max(1, set / trained), trained)];
}

/** How a rule sets a model for a text of this length: `omegas` and `temperature` for RoPE, whether a
    table of learned rows is `stretched`, and whether queries are `logScaled` in layers that see every
    key. Within the trained length no rule does anything. */
export function setFor(rule, length, { width, heads, trained, divisors }) {
  const factor = Math.max(1, length / trained);
  const own = ROTATIONS[factor > 1 ? rule : rule.split(",")[0]];
  const [omegas, temperature = 1] = own?.({ d: width / heads, factor, trained, length, divisors }) ?? [];
  const isSet = (name) => rule === name && factor > 1;
  return {
    omegas,
    temperature,
    stretched: isSet("learned, interpolated"),
    logScaled: isSet("windows_none, log n"),
  };
}
