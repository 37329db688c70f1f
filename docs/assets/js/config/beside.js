// What each rule would do to the pairs of a head, beside the one that its configuration has.

import { unseenPairs } from "./angles.js";
import { frequenciesOf } from "./config.js";
import { Refusal } from "./python.js";
import { frequencies, interpolated, llama3, ntk, yarn } from "./scaling.js";
import { scaling } from "./tables.js";

const least = (a, b) => (b === null || a < b ? a : b);

/** Each rule by its name, for a factor; a head too narrow for a rule goes without it. */
const RULES = {
  none: (d, { base }) => frequencies(d, base),
  interpolation: (d, { base, factor }) => interpolated(d, factor, base),
  "NTK-aware": (d, { base, factor }) => ntk(d, factor, base),
  YaRN: (d, about) => yarn(d, { ...about, fast: scaling.FAST, slow: scaling.SLOW, truncate: true }),
  "Llama 3": (d, about) => llama3(d, { ...about, low: 1, high: 4 }),
};

/** The rules that would carry a head from its trained to the asked length, and the one that it has:
    the name of each, by how much it slows each pair, and how many pairs meet new angles. Empty if
    no length is known or nothing rotates. */
export function beside(config, found) {
  const whole = found.trained_length ?? found.length;
  if (!found.pairs.length || whole === null) return [];
  const [trained, length] = [whole, found.asked_length].map((one) =>
    Number(least(one, found.window)),
  );
  const d = Number(config.rotaryD);
  const about = { base: config.base, trained, factor: Math.max(1, length / trained) };
  const plain = frequencies(d, config.base);
  const slowedBy = (now) => plain.map((omega, pair) => omega / now[pair]);
  const rules = Object.entries(RULES).flatMap(([name, rule]) => {
    const now = computed(() => rule(d, about));
    if (!now) return [];
    const slowed = slowedBy(now);
    const unseen = unseenPairs(plain, slowed, { trained, length }).filter(Boolean).length;
    return [{ name, slowed, unseen }];
  });
  const own = slowedBy(frequenciesOf(config, found.asked_length));
  return [{ name: "as configured", slowed: own, unseen: Number(found.unseen) }, ...rules];
}

/** Frequencies, or null where a rule has none: of a base beyond float64, or of one pair. */
function computed(rule) {
  try {
    const now = rule();
    return now.every(Number.isFinite) ? now : null;
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}
