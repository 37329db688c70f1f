// posenc/config/__init__.py: the rotary settings of a model, or of the layers of one type.

import { read } from "./reading.js";
import {
  asInteger,
  dynamic,
  frequencies,
  interpolated,
  llama3,
  longrope,
  ntk,
  proportional,
  yarn,
} from "./scaling.js";
import { keys } from "./tables.js";

/** The settings that a configuration, a Map, gives the layers of one type. Integers are BigInts. */
export function readConfig(config, layerType = null, trainedLength = null) {
  if (trainedLength !== null) asInteger("trained_length", trainedLength, 2n);
  const { rule, head, stack, ...found } = read(config, layerType, trainedLength);
  const rotaryD = rule.scheme === keys.NONE ? 0n : head.rotaryD;
  return { ...found, ...rule, ...stackNames(stack), d: head.d, rotaryD };
}

const stackNames = ({ rotates, layers, windowed, count }) => ({
  rotates,
  numbers: layers,
  windowed,
  count,
});

/** The frequency of each rotated pair in a sequence of this length, a BigInt; null for any up to
    the trained length. */
export function frequenciesOf(config, length = null) {
  const asked = length === null ? 1 : asInteger("length", length, 1n);
  const about = { base: config.base, factor: config.factor, ...config.settings };
  if (config.trainedLength !== null) about.trained = Number(config.trainedLength);
  return COMPUTED[config.scheme](Number(config.rotaryD), about, asked);
}

/** By how much Qwen-7B enlarges the base: 1, 3, 7, ... as the length doubles. */
const stepOf = (length, trained) =>
  Math.max(2 ** Math.ceil(Math.log2(length / trained) + 1) - 1, 1);

const COMPUTED = {
  [keys.NONE]: () => [],
  default: (d, { base }) => frequencies(d, base),
  axial: (_, { base, widths }) => widths.flatMap((width) => frequencies(Number(width), base)),
  linear: (d, { base, factor }) => interpolated(d, factor, base),
  "fixed-ntk": (d, { base, factor }) =>
    frequencies(d, base * factor).map((one) => one / factor ** (2 / d)),
  "ntk-steps": (d, { base, trained }, length) => ntk(d, stepOf(length, trained), base),
  ntk: (d, { base, factor }) => ntk(d, factor, base),
  dynamic: (d, about, length) => dynamic(d, length, about),
  yarn: (d, about) => yarn(d, about),
  longrope: (d, about, length) => longrope(d, length, about),
  llama3: (d, about) => llama3(d, about),
  proportional: (d, about) => proportional(d, Number(about.rotary_d), about),
};
