// posenc/frequency.py and posenc/rotary/scaling.py: the frequencies of each rule, as a list of numbers.
// Lengths are integers, BigInts here, until they are computed with. What read_config has checked is
// not checked again.

import { list } from "../positions.js";
import { Refusal, float, general } from "./python.js";
import { entries as limits } from "./tables.js";

const LN = Math.log;
const LARGER = "make a base of at most 1e300, other than 1";
const clipped = (value) => Math.min(Math.max(value, 0), 1);

/** An integer as posenc._arguments.as_integer checks it. */
export function asInteger(name, value, least) {
  if (value >= least && value <= limits.LARGEST) return Number(value);
  const most = value > limits.LARGEST ? ", and at most 2**53" : "";
  const allowed = `an integer, ${least} or more${most}`;
  const size = value < 0 ? -value : value;
  const got = size < 10n ** 60n ? value : `one of ${size.toString(2).length} bits`;
  throw new Refusal(`${name} must be ${allowed}; got ${got}`);
}

function asFactor(value) {
  if (value >= 1 && value <= 1e100) return value;
  throw new Refusal(`factor must be a number from 1 to 1e100; got ${float(value)}`);
}

function asBase(value) {
  if (value >= 1e-300 && value <= 1e300 && value !== 1) return value;
  const allowed = "a number from 1e-300 to 1e300, other than 1";
  throw new Refusal(`base must be ${allowed}; got ${float(value)}`);
}

function asDivisors(name, values) {
  const outside = values.find((one) => one < 1e-100 || one > 1e100);
  if (outside === undefined) return values;
  throw new Refusal(`${name} must be numbers from 1e-100 to 1e100; got ${float(outside)}`);
}

/** The frequency of each pair, base^(−2i/d). */
export function frequencies(d, base) {
  asBase(base);
  return list(d / 2, (pair) => base ** ((-2 * pair) / d));
}

export function interpolated(d, factor, base) {
  const omega = frequencies(d, base);
  asFactor(factor);
  return omega.map((one) => one / factor);
}

/** Those of a larger base. */
export function ntk(d, factor, base) {
  [asBase(base), asFactor(factor)];
  return withLargerBase(d, factor, base, `factor must ${LARGER}; got ${float(factor)}`);
}

export function dynamic(d, length, { factor, trained, base }) {
  [asBase(base), asFactor(factor)];
  const beyond = Math.max(length - trained, 0) / trained;
  const given = `length and factor must ${LARGER}; got ${length} and ${float(factor)}`;
  return withLargerBase(d, 1 + factor * beyond, base, given);
}

/** The frequencies of base · factor^(d/(d−2)), or a refusal of what was given. */
function withLargerBase(d, factor, base, given) {
  const larger = base * factor ** (d / (d - 2));
  if (larger > 1e300 || larger === 1) throw new Refusal(`${given}, which makes ${general(larger)}`);
  return frequencies(d, larger);
}

/** YaRN as in released code, with a ramp that is linear in the pair. */
export function yarn(d, { factor, trained, base, fast, slow, truncate }) {
  const omega = frequencies(d, base);
  asFactor(factor);
  const turning = (turns) => (d * (LN(trained / (2 * Math.PI)) - LN(turns))) / (2 * LN(base));
  let [first, last] = [turning(fast), turning(slow)];
  if (truncate) [first, last] = [Math.floor(first), Math.ceil(last)];
  return blended(omega, factor, byPairs(d, first, last));
}

export function llama3(d, { factor, trained, low, high, base }) {
  const omega = frequencies(d, base);
  return blended(omega, asFactor(factor), byTurns(omega, trained, { fast: high, slow: low }));
}

export function longrope(d, length, { short, long, trained, base }) {
  const omega = frequencies(d, base);
  const [near, far] = [asDivisors("short", short), asDivisors("long", long)];
  const divisors = length > trained ? far : near;
  return omega.map((one, pair) => one / divisors[pair]);
}

export function proportional(d, rotaryD, { factor, base }) {
  const omega = interpolated(d, factor, base);
  if (rotaryD > d) throw new Refusal(`rotary_d must be at most ${d}, the width; got ${rotaryD}`);
  return omega.map((one, pair) => (pair < rotaryD / 2 ? one : 0));
}

/** The ramp of the paper, linear in the turns of training. */
function byTurns(omega, trained, { fast, slow }) {
  const turns = omega.map((one) => trained * (one / (2 * Math.PI)));
  if (fast === slow) return turns.map((often) => Number(often >= fast));
  return turns.map((often) => (often - slow) / (fast - slow));
}

/** The ramp of released code, linear from one pair to another, or a step if they do not follow. */
function byPairs(d, first, last) {
  const low = Math.min(Math.max(first, 0), d);
  const end = Math.min(last, d - 1);
  const high = end > low ? end : low + 0.001;
  return list(d / 2, (pair) => (high - pair) / (high - low));
}

/** Frequencies between kept, at 1 or above, and interpolated, at 0 or below. */
function blended(omega, factor, ramp) {
  const kept = ramp.map(clipped);
  return omega.map((one, pair) => ((1 - kept[pair]) / factor + kept[pair]) * one);
}

/** By how much YaRN scales queries and keys. */
export function yarnTemperature(factor, mscale = 1) {
  if (mscale > 1e100) {
    throw new Refusal(`mscale must be a number from 0 to 1e100; got ${float(mscale)}`);
  }
  return 0.1 * mscale * LN(asFactor(factor)) + 1;
}

/** By how much LongRoPE scales queries and keys. */
export function longropeTemperature(factor, trained) {
  asInteger("trained_length", trained, 2n);
  return Math.sqrt(1 + LN(asFactor(factor)) / LN(Number(trained)));
}
