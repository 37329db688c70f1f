// JSON as Python's json.loads reads it: the same values, the same messages, and where each stands.

import { Refusal, dumps, lengthOf, shown } from "./python.js";

const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
const CONSTANTS = [
  ["null", null],
  ["true", true],
  ["false", false],
  ["NaN", NaN],
  ["Infinity", Infinity],
  ["-Infinity", -Infinity],
];
const ESCAPES = { '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
const [DIGITS, DEPTH] = [4300, 990]; // what Python is willing to read

/** A syntax error, with the place where it is. */
export class SyntaxFault extends Refusal {
  constructor(message, text, at) {
    const before = text.slice(0, at);
    const line = before.split("\n").length;
    const column = lengthOf(before.slice(before.lastIndexOf("\n") + 1)) + 1;
    super(`${message}: line ${line} column ${column} (char ${lengthOf(before)})`);
    this.at = at;
  }
}

/** What a text of JSON says, and by the path of each entry where its key and its value stand. */
export function loads(text) {
  const reader = new Reader(text);
  const value = reader.value(reader.space(0), "", 1);
  const end = reader.space(reader.at);
  if (end < text.length) throw new SyntaxFault("Extra data", text, end);
  return { value, places: reader.places };
}

class Reader {
  constructor(text) {
    this.text = text;
    this.at = 0; // the end of what was read last
    this.places = new Map();
  }

  fault(message, at) {
    return new SyntaxFault(message, this.text, at);
  }

  /** The first place from here on that is not white space. */
  space(at) {
    while (at < this.text.length && " \t\n\r".includes(this.text[at])) at++;
    return at;
  }

  value(at, path, depth) {
    const first = this.text[at];
    if (first === '"') return this.string(at);
    if (first === "{" || first === "[") {
      const kind = first === "{" ? "object" : "array";
      if (depth > DEPTH) {
        throw Object.assign(new Refusal("brackets are nested too deeply"), { isNested: true });
      }
      return this[kind](at, path, depth);
    }
    for (const [name, value] of CONSTANTS) {
      if (!this.text.startsWith(name, at)) continue;
      this.at = at + name.length;
      return value;
    }
    return this.number(at);
  }

  number(at) {
    NUMBER.lastIndex = at;
    const [written, fraction, exponent] = NUMBER.exec(this.text) ?? [];
    if (written === undefined) throw this.fault("Expecting value", at);
    this.at = at + written.length;
    if (fraction || exponent) return Number(written);
    const digits = written.replace("-", "").length;
    if (digits > DIGITS) {
      const most = `at most ${DIGITS} digits`;
      throw new Refusal(`config must have integers of ${most}; got one of ${digits}`);
    }
    return BigInt(written);
  }

  object(at, path, depth) {
    const found = new Map();
    at = this.space(at + 1);
    while (this.text[at] !== "}" || found.size) {
      if (this.text[at] !== '"') {
        throw this.fault("Expecting property name enclosed in double quotes", at);
      }
      const key = this.string(at);
      const name = [at, this.at];
      at = this.space(this.at);
      if (this.text[at] !== ":") throw this.fault("Expecting ':' delimiter", at);
      at = this.space(at + 1);
      const own = path + key;
      const value = this.value(at, `${own}.`, depth + 1);
      this.places.set(own, { key: name, value: [at, this.at] });
      add(found, key, value);
      at = this.space(this.at);
      if (this.text[at] === "}") break;
      if (this.text[at] !== ",") throw this.fault("Expecting ',' delimiter", at);
      at = this.space(at + 1);
    }
    this.at = at + 1;
    return found;
  }

  array(at, path, depth) {
    const found = [];
    at = this.space(at + 1);
    while (this.text[at] !== "]" || found.length) {
      const own = path + found.length;
      const start = at;
      found.push(this.value(at, `${own}.`, depth + 1));
      this.places.set(own, { key: [start, this.at], value: [start, this.at] });
      at = this.space(this.at);
      if (this.text[at] === "]") break;
      if (this.text[at] !== ",") throw this.fault("Expecting ',' delimiter", at);
      at = this.space(at + 1);
    }
    this.at = at + 1;
    return found;
  }

  string(begin) {
    const { text } = this;
    let [said, at] = ["", begin + 1];
    for (;;) {
      const from = at;
      while (at < text.length && text[at] !== '"' && text[at] !== "\\") {
        if (text[at] <= "\x1f") throw this.fault("Invalid control character at", at);
        at++;
      }
      said += text.slice(from, at);
      if (at >= text.length) throw this.fault("Unterminated string starting at", begin);
      if (text[at] === '"') break;
      const [character, end] = this.escape(at + 1, begin);
      said += character;
      at = end;
    }
    this.at = at + 1;
    return said;
  }

  /** What a backslash before this place stands for, and where that ends. */
  escape(at, begin) {
    const { text } = this;
    if (at >= text.length) throw this.fault("Unterminated string starting at", begin);
    if (text[at] === "u") {
      const digits = text.slice(at + 1, at + 5);
      if (at + 5 >= text.length || !/^[0-9a-fA-F]{4}$/.test(digits)) {
        throw this.fault("Invalid \\uXXXX escape", at);
      }
      return [String.fromCharCode(parseInt(digits, 16)), at + 5];
    }
    if (!Object.hasOwn(ESCAPES, text[at])) throw this.fault("Invalid \\escape", at - 1);
    return [ESCAPES[text[at]], at + 1];
  }
}

/** A value as JSON, the same for objects whose keys have another order. */
const written = (value) => dumps(sorted(value), 0);
function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (!(value instanceof Map)) return value;
  const byName = [...value].sort(([a], [b]) => (a < b ? -1 : 1));
  return new Map(byName.map(([key, one]) => [key, sorted(one)]));
}

/** Add an entry to an object, in which no key may have two values: values are compared as they are
    written, since 1, 1.0 and true are equal in Python. */
function add(found, key, value) {
  if (found.has(key) && written(found.get(key)) !== written(value)) {
    const both = `${shown(found.get(key))} and ${shown(value)}`;
    throw new Refusal(`config must have one value for ${key}; got ${both}`);
  }
  found.set(key, value);
}
