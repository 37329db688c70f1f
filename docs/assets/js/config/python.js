// What the reader of configurations takes from Python: its two kinds of numbers, equality, and how
// it prints values. A Python int is a BigInt here and a float is a number, so 4 and 4.0 stay apart;
// a dict is a Map, None is null.

/** A configuration that cannot be read: the message of Python's TypeError or ValueError. */
export class Refusal extends Error {}

export const isInteger = (value) => typeof value === "bigint";
export const isNumber = (value) => isInteger(value) || typeof value === "number";
export const isObject = (value) => value instanceof Map;
export const isMissing = (value) => value === null || value === undefined;

/** How many characters a text has, as Python counts them. */
export const lengthOf = (text) => [...text].length;

const counted = (value) => (typeof value === "boolean" ? BigInt(value) : value);

/** a == b. Inside a list or an object NaN equals itself, since Python parses it to one object. */
export function equals(a, b, within = false) {
  [a, b] = [counted(a), counted(b)];
  if (isNumber(a) && isNumber(b)) return a == b || (within && a !== a && b !== b);
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((one, n) => equals(one, b[n], true));
  }
  if (!isObject(a) || !isObject(b)) return a === b;
  const isIn = ([key, one]) => b.has(key) && equals(one, b.get(key), true);
  return a.size === b.size && [...a].every(isIn);
}

/** bool(value). */
export function isTruthy(value) {
  if (Array.isArray(value)) return value.length > 0;
  if (isObject(value)) return value.size > 0;
  return Boolean(value) || value !== value; // NaN is true
}

/** int(value) of a float. */
export const truncated = (value) => BigInt(Math.trunc(value));

/** round(value) of a float: to the even integer if it is halfway. */
export function rounded(value) {
  const low = Math.floor(value);
  const over = value - low;
  return BigInt(over > 0.5 || (over === 0.5 && low % 2 !== 0) ? low + 1 : low);
}

/** str(message.split()) with single spaces, as the command prints an error. */
const inOneLine = (text) => text.split(SPACES).filter(Boolean).join(" ");

/** An error as the command prints it: in one line, without what would steer a terminal, cut if it is
    long. */
export function oneLine(text) {
  const line = [...printable(inOneLine(text))];
  return line.length <= LONGEST ? line.join("") : `${line.slice(0, LONGEST - 1).join("")}…`;
}
const LONGEST = 1000;
const SPACES = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/;

// Numbers

/** The digits of a number, one before the point, and its exponent of ten, rounded as Python does:
    half to even, where JavaScript rounds half up. */
function digitsOf(size, precision) {
  const [exact] = size.toExponential(99).split("e");
  const all = exact.replace(".", "");
  const halfway = /^50*$/.test(all.slice(precision));
  if (halfway && Number(all[precision - 1]) % 2 === 0) {
    return [all.slice(0, precision), Number(size.toExponential(99).split("e")[1])];
  }
  const [kept, exponent] = size.toExponential(precision - 1).split("e");
  return [kept.replace(".", ""), Number(exponent)];
}

const power = (exponent) =>
  `e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;

/** Digits with a point: plain if the exponent is from −4 up to `end`, otherwise scientific. */
function placed(digits, exponent, end, whole = "") {
  if (exponent < -4 || exponent >= end) {
    return digits[0] + (digits.length > 1 ? `.${digits.slice(1)}` : "") + power(exponent);
  }
  if (exponent < 0) return `0.${"0".repeat(-exponent - 1)}${digits}`;
  const filled = digits.padEnd(exponent + 1, "0");
  const rest = filled.slice(exponent + 1);
  return filled.slice(0, exponent + 1) + (rest ? `.${rest}` : whole);
}

const unusual = (value) => (value !== value ? "nan" : value < 0 ? "-inf" : "inf");
const sign = (value) => (value < 0 || Object.is(value, -0) ? "-" : "");

/** f"{value:.{precision}g}". */
export function general(value, precision = 6) {
  const number = Number(value);
  if (!Number.isFinite(number)) return unusual(number);
  if (number === 0) return `${sign(number)}0`;
  const [digits, exponent] = digitsOf(Math.abs(number), precision);
  return sign(number) + placed(digits.replace(/(?<=.)0+$/, ""), exponent, precision);
}

/** With a comma before each three digits of the integer part: f"{value:,}". */
export const grouped = (text) => String(text).replace(/^-?\d+/, (whole) => commas(whole));
const commas = (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ",");

/** repr(value) of a float. */
export function float(value) {
  if (!Number.isFinite(value)) return unusual(value);
  if (value === 0) return `${sign(value)}0.0`;
  const [digits, exponent] = Math.abs(value).toExponential().split("e");
  return sign(value) + placed(digits.replace(".", ""), Number(exponent), 16, ".0");
}

// Values

const NAMED = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };
const hexadecimal = (point, digits) => point.toString(16).padStart(digits, "0");

function escaped(character) {
  const point = character.codePointAt(0);
  if (point < 0x100) return `\\x${hexadecimal(point, 2)}`;
  return point < 0x10000 ? `\\u${hexadecimal(point, 4)}` : `\\U${hexadecimal(point, 8)}`;
}

/** A text with escapes for what would move the cursor of a terminal. */
export const printable = (text) =>
  text.replace(UNPRINTABLE, (one) => NAMED[one] ?? escaped(one));
const UNPRINTABLE = /(?! )[\p{C}\p{Z}]/gu;

/** repr(value) of a string. */
function quoted(text) {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inner = text
    .replace(/[\\\n\r\t]/g, (one) => NAMED[one])
    .replaceAll(quote, `\\${quote}`)
    .replace(UNPRINTABLE, escaped);
  return quote + inner + quote;
}

/** repr(value). */
export function repr(value) {
  if (isMissing(value)) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (isInteger(value)) return String(value);
  if (typeof value === "number") return float(value);
  if (typeof value === "string") return quoted(value);
  if (Array.isArray(value)) return `[${value.map(repr).join(", ")}]`;
  return `{${[...value].map(([key, one]) => `${repr(key)}: ${repr(one)}`).join(", ")}}`;
}

/** type(value).__name__. */
function typeOf(value) {
  if (isMissing(value)) return "NoneType";
  if (Array.isArray(value)) return "list";
  if (isObject(value)) return "dict";
  return { boolean: "bool", bigint: "int", number: "float", string: "str" }[typeof value];
}

/** A value as error messages show it: its repr, shortened, and its type. */
export function shown(value) {
  const said = [...repr(value)];
  const short = said.length <= 60 ? said : [...said.slice(0, 57), "..."];
  return `${short.join("")} (${typeOf(value)})`;
}

// JSON, as json.dumps writes it

const ESCAPED = { ...NAMED, "\b": "\\b", "\f": "\\f", '"': '\\"' };
const character = (one) => ESCAPED[one] ?? `\\u${hexadecimal(one.charCodeAt(0), 4)}`;
const inQuotes = (text) => `"${text.replace(/["\\]|[^ -~]/g, character)}"`;
const constant = { nan: "NaN", inf: "Infinity", "-inf": "-Infinity" };

/** json.dumps(value, indent=indent). An object of JavaScript counts as a dict too. */
export function dumps(value, indent, margin = "\n") {
  if (isMissing(value)) return "null";
  if (typeof value === "string") return inQuotes(value);
  if (typeof value === "number") return constant[float(value)] ?? float(value);
  if (typeof value !== "object") return String(value);
  const inner = margin + " ".repeat(indent);
  const list = Array.isArray(value);
  const parts = list
    ? value.map((one) => dumps(one, indent, inner))
    : (isObject(value) ? [...value] : Object.entries(value)).map(
        ([key, one]) => `${inQuotes(key)}: ${dumps(one, indent, inner)}`,
      );
  const [open, close] = list ? "[]" : "{}";
  return parts.length ? open + inner + parts.join(`,${inner}`) + margin + close : open + close;
}
