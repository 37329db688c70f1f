// posenc/_config/keys.py: the keys that are read, and those that are refused.

import { agreed } from "./entries.js";
import { edits, nearest } from "./nearest.js";
import { Refusal, lengthOf, shown } from "./python.js";
import { keys } from "./tables.js";

const { READ, RULES, SCALING, SYNONYMS, UNRELATED, WORDS } = keys;

/** Refuse a key that is about positions, or written like one that is read. */
export function refuseStrangers(entries) {
  for (const key of entries.all()) {
    if (READ.has(key) || UNRELATED.has(key)) continue;
    const [near, long, lower] = [nearest(key, READ), lengthOf(key), key.toLowerCase()];
    const isSlip = long > 4 && edits(lower, near) <= (long < 10 ? 1 : 2);
    if (!isSlip && !lower.split(/[^a-z]+/).some((word) => WORDS.has(word))) continue;
    throw new Refusal(
      `${entries.path(key)} must be a key that is read, such as ${entries.path(near)};` +
        ` got ${shown(entries.mapping.get(key))}`,
    );
  }
}

const synonym = (name) => SYNONYMS.get(name) ?? name;
const NAMES = [...RULES.keys()].filter((name) => name !== "ntk");

/** The rule that a section names. */
export function typeOf(entries) {
  const said = ["rope_type", "type"].map((key) => [entries.path(key), entries.text(key)]);
  for (const [path, name] of said) {
    if (name === null || NAMES.includes(synonym(name))) continue;
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
