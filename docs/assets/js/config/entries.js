// posenc/config/entries.py: typed entries, each named in errors by where it stands.

import { loads } from "./json.js";
import { alike, nearest } from "./nearest.js";
import { Refusal, equals, general, isMissing, isNumber, isObject, shown } from "./python.js";
import { entries as limits } from "./tables.js";

const { LIMIT, LARGEST } = limits;

/** A configuration as a mapping, from the text of a file of this name, and the places of its
    entries. */
export function load(text, name) {
  if (/^[\t-\r ]*$/.test(text)) {
    throw new Refusal(`config must be a JSON file; got ${name}, which is empty`);
  }
  const { value, places } = parsed(text.replace(/^\ufeff/, ""), name);
  if (!isObject(value)) throw new Refusal(`config must be a JSON object; got ${shown(value)}`);
  return { config: value, places };
}

// The first line of YAML: an entry, after comments. Only the command reads it.
const YAML = /^[ \t\r\n]*(?:#[^\n]*\n[ \t\r\n]*)*(?:---|[A-Za-z_][\w.-]*:(?:[ \r\n]|$))/;

/** What a text of JSON says; a fault of its syntax names the file. */
function parsed(text, name) {
  try {
    return loads(text);
  } catch (error) {
    if (error.at !== undefined && YAML.test(text)) {
      error.message =
        `config must be a JSON file; got ${name}, which looks like YAML: a file is read as YAML if` +
        " its name ends in .yaml";
      throw error;
    }
    const isSyntax = error.at !== undefined || error.isNested;
    if (error.message.startsWith("Expecting")) explainFault(error, text);
    if (isSyntax) error.message = `config must be a JSON file; got ${name}: ${error.message}`;
    throw error;
  }
}

/** Say in plain words, before those of Python, what breaks the syntax, if that is clear. */
function explainFault(error, text) {
  const comma = text.slice(0, error.at).lastIndexOf(",");
  const isAfter = comma >= 0 && /^[ \t\r\n]*$/.test(text.slice(comma + 1, error.at));
  const rest = text.slice(isAfter ? comma : error.at);
  const causes = [...limits.CAUSES].slice(isAfter ? 0 : 1);
  const [cause, said] = causes.find(([one]) => new RegExp(`^(?:${one})`).test(rest)) ?? [];
  if (cause === undefined) return;
  error.message = `${said}: ${error.message}`;
  if (cause === [...limits.CAUSES.keys()][0]) error.at = comma;
}

/** A mapping whose entries are read by type. A null entry counts as missing. */
export class Entries {
  constructor(mapping, place = "") {
    this.mapping = mapping;
    this.place = place;
  }

  has(key) {
    return !isMissing(this.mapping.get(key));
  }

  /** The name of an entry in messages. */
  path(key) {
    return this.place + key;
  }

  /** Those of the keys that have an entry. */
  given(keys) {
    return [...keys].filter((key) => this.has(key));
  }

  /** Those of all keys that have an entry. */
  all() {
    return this.given(this.mapping.keys());
  }

  /** The entries of a mapping that is an entry, or none if it is missing. */
  within(key) {
    const value = this.mapping.get(key);
    if (!isMissing(value) && !isObject(value)) {
      throw new Refusal(`${this.path(key)} must be an object or null; got ${shown(value)}`);
    }
    return new Entries(value ?? new Map(), `${this.path(key)}.`);
  }

  /** A finite number, at least `least` or above it. */
  number(key, { least, above = false }) {
    const value = this.mapping.get(key);
    if (isMissing(value)) return null;
    const lowest = general(least);
    let allowed = above ? `a number above ${lowest}` : `a number, ${lowest} or more`;
    if (isNumber(value) && value > LIMIT && value < Infinity) allowed = "a number, at most 1e100";
    const isInside = least <= value && value <= LIMIT && !(above && value == least);
    if (!isNumber(value) || !isInside) {
      throw new Refusal(`${this.path(key)} must be ${allowed}; got ${shown(value)}`);
    }
    return Number(value);
  }

  /** An integer from `least` to 2**53; a float with no fraction will do. */
  integer(key, { least = 1 } = {}) {
    const value = this.mapping.get(key);
    if (isMissing(value)) return null;
    const isLarge = isNumber(value) && value > LARGEST && value < Infinity;
    const allowed = `an integer, ${isLarge ? "at most 2**53" : `${least} or more`}`;
    const isInside = isNumber(value) && least <= value && value <= LARGEST;
    if (!isInside || !Number.isInteger(Number(value))) {
      throw new Refusal(`${this.path(key)} must be ${allowed}; got ${shown(value)}`);
    }
    return BigInt(value);
  }

  /** True or false. */
  flag(key, otherwise) {
    const value = this.mapping.get(key);
    if (isMissing(value)) return otherwise;
    if (typeof value !== "boolean") {
      throw new Refusal(`${this.path(key)} must be true or false; got ${shown(value)}`);
    }
    return value;
  }

  /** A string. */
  text(key) {
    const value = this.mapping.get(key) ?? null;
    if (value !== null && typeof value !== "string") {
      throw new Refusal(`${this.path(key)} must be a string; got ${shown(value)}`);
    }
    return value;
  }

  /** A list of so many numbers above 0. */
  numbers(key, count) {
    const value = this.mapping.get(key);
    const allowed = `${this.path(key)} must be a list of ${count} numbers, one per pair`;
    if (!Array.isArray(value)) throw new Refusal(`${allowed}; got ${shown(value)}`);
    if (value.length !== count) throw new Refusal(`${allowed}; got ${value.length}`);
    const each = listed(value, `${this.path(key)}.`);
    return value.map((_, n) => each.requiredNumber(String(n), { least: 0, above: true }));
  }

  /** A number that must be there. */
  requiredNumber(key, bounds) {
    const value = this.number(key, bounds);
    if (value === null) throw new Refusal(`${this.path(key)} must be given; got none`);
    return value;
  }
}

/** The items of a list as entries, each under its number. */
export const listed = (items, place) =>
  new Entries(new Map(items.map((one, n) => [String(n), one])), place);

/** What all of several entries, [path, value], say, or null if there is none. */
export function agreed(values) {
  const said = [...new Map(values)].filter(([, value]) => !isMissing(value));
  for (const [path, value] of said.slice(1)) {
    if (equals(value, said[0][1])) continue;
    throw new Refusal(
      `${said[0][0]} and ${path} must agree; got ${shown(said[0][1])} and ${shown(value)}`,
    );
  }
  return said.length ? said[0][1] : null;
}

/** Refuse an entry with another key than the known, naming the nearest of them. An unknown key that
    is null says nothing, and passes. */
export function refuseUnknown(entries, known, where) {
  for (const key of entries.all()) {
    if (known.has(key)) continue;
    throw new Refusal(
      `${entries.path(key)} must be a key that ${where} reads${hint(entries, key, known)};` +
        ` got ${shown(entries.mapping.get(key))}`,
    );
  }
}

/** Words that name the known key that another was to be, none if that is not clear. */
export function hint(entries, key, known) {
  const near = nearest(key, known);
  const isNear = alike(key.toLowerCase(), near, Number(limits.SLIP));
  return isNear ? `, such as ${entries.path(near)}` : "";
}
