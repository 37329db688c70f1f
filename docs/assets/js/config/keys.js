// posenc/config/keys.py: the keys that are read, and those that are refused.

import { agreed } from "./entries.js";
import { alike, nearest } from "./nearest.js";
import { Refusal, lengthOf, shown } from "./python.js";
import { keys } from "./tables.js";

const { READ, RULES, SCALING, SYNONYMS, UNRELATED, WORDS } = keys;

/** Refuse a key that is about positions, or written like one that is read. */
export function refuseStrangers(entries) {
  for (const key of entries.all()) {
    if (READ.has(key) || UNRELATED.has(key)) continue;
    const near = meant(key);
    if (near === null) continue;
    throw new Refusal(
      `${entries.path(key)} must be a key that is read, such as ${entries.path(near)};` +
        ` got ${shown(entries.mapping.get(key))}`,
    );
  }
}

/** The key that is read which another was to be, or null if it is about other things. */
function meant(key) {
  const [word, long] = [key.toLowerCase(), lengthOf(key)];
  const most = long < 10 ? 1 : 2;
  const isAbout = word.split(/[^a-z]+/).some((one) => WORDS.has(one));
  const isSlip = () => long > 4 && [...READ].some((one) => alike(word, one, most));
  if (!isAbout && !isSlip()) return null;
  const near = nearest(key, READ);
  return isAbout || alike(word, near, most) ? near : null;
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
