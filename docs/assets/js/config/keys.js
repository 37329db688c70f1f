// posenc/config/keys.py: the keys that are read, and those that are refused.

import { agreed, hint } from "./entries.js";
import { alike } from "./nearest.js";
import { Refusal, lengthOf, shown } from "./python.js";
import { entries as limits, keys } from "./tables.js";

const { READ, RULES, SCALING, SYNONYMS, UNNAMED, UNRELATED, WORDS } = keys;

/** Refuse a key that is about positions, or written like one that is read. */
export function refuseStrangers(entries) {
  for (const key of entries.all()) {
    if (READ.has(key) || UNRELATED.has(key)) continue;
    if (!isAboutPositions(key)) continue;
    throw new Refusal(
      `${entries.path(key)} must be a key that is read${hint(entries, key, READ)};` +
        ` got ${shown(entries.mapping.get(key))}`,
    );
  }
}

/** A bit for each letter of a word; few letters share one. */
function lettersOf(word) {
  let bits = 0;
  for (const letter of word) bits |= 1 << (letter.codePointAt(0) & 31);
  return bits;
}

/** How many bits are in one of two numbers alone. */
function differing(a, b) {
  let count = 0;
  for (let rest = a ^ b; rest; rest &= rest - 1) count++;
  return count;
}

/** How many edits of a key of this length are a slip. */
const slips = (size) => (size < 10 ? 1 : Number(limits.SLIP));

// By length of a key from 5 on: the keys of about that length that are read, with their letters.
const NEAR = new Map();
for (const one of READ) {
  const most = Number(limits.SLIP);
  for (let size = Math.max(5, one.length - most); size <= one.length + most; size++) {
    if (Math.abs(one.length - size) > slips(size)) continue;
    NEAR.set(size, [...(NEAR.get(size) ?? []), [lettersOf(one), one]]);
  }
}

/** Whether one of its words is about positions, or it is a slip for a key that is read. */
function isAboutPositions(key) {
  const [word, most] = [key.toLowerCase(), slips(lengthOf(key))];
  if (word.split(/[^a-z]+/).some((one) => WORDS.has(one))) return true;
  const letters = lettersOf(word); // most words differ in more than so many edits can change
  const near = NEAR.get(lengthOf(word)) ?? [];
  return near.some(([own, one]) => differing(letters, own) <= 2 * most && alike(word, one, most));
}

const synonym = (name) => SYNONYMS.get(name) ?? name;
const NAMES = [...RULES.keys()].filter((name) => !UNNAMED.includes(name));
const isName = (name) => name !== "fixed-ntk" && (RULES.has(name) || SYNONYMS.has(name));

/** The rule that a section names. */
export function typeOf(entries) {
  const said = ["rope_type", "type"].map((key) => [entries.path(key), entries.text(key)]);
  for (const [path, name] of said) {
    if (name === null || isName(name)) continue;
    const allowed = NAMES.map((one) => `"${one}"`).join(", ");
    throw new Refusal(`${path} must be one of ${allowed}; got ${shown(name)}`);
  }
  const name = agreed(said.map(([path, one]) => [path, one && synonym(one)]));
  const needing = name === null ? entries.given(SCALING) : [];
  if (needing.length) {
    const path = entries.path("rope_type");
    throw new Refusal(`${path} must be given where ${needing[0]} is; got none`);
  }
  return name || "default";
}
