// `config` of posenc/__main__.py: what `posenc config PATH --length N` answers.

import { frequenciesOf, readConfig } from "./config.js";
import { load } from "./entries.js";
import { explained, worded } from "./explain.js";
import { Refusal, dumps, oneLine, repr } from "./python.js";
import { explain } from "./tables.js";

export const [HEALTHY, ILL, COULD_NOT_TELL] = [0, 1, 2]; // exit statuses
export const FILE = "config.json"; // the name under which the text is read

// A number of times 1024, or of its square.
const TIMES = { "": 1n, k: 2n ** 10n, m: 2n ** 20n };

// Digits, with commas or without, and a unit.
const SPACE = "[ \\u00a0\\u2009\\u202f]*"; // as typed, or copied from a page
const DIGITS = "[+-]?(?:\\d{1,3}(?:,\\d{3})+|\\d+(?:_\\d+)*)";
const LENGTH = new RegExp(`^(?=.{1,99}$)${SPACE}(${DIGITS})${SPACE}([kKmM]?)${SPACE}$`);

/** A length, a BigInt, from what is written in a field; null if nothing is. */
export function lengthIn(text) {
  if (!text.trim()) return null;
  const [, digits, unit] = text.match(LENGTH) ?? [];
  if (digits === undefined) {
    const allowed = "a number of tokens, such as 32768, 32,768 or 32k";
    throw new Refusal(`a length must be ${allowed}; got ${repr(text)}`);
  }
  return BigInt(digits.replace(/[+_,]/g, "")) * TIMES[unit.toLowerCase()];
}

/** What is read and computed for each type of layers, or the error, and the exit status; `trained`
    is the length of training that `--trained` gives. */
export function answered(text, length = null, trained = null) {
  let places = new Map();
  try {
    const loaded = load(text, FILE);
    places = loaded.places;
    const first = readConfig(loaded.config, null, trained);
    if (length !== null) frequenciesOf(first, length);
    const types = first.layerTypes.length ? first.layerTypes : [null];
    const settings = types.map((type) => readConfig(loaded.config, type, trained));
    const layers = settings.map((one) => explained(one, length));
    const isOpen = trained !== null || takesAnother(loaded.config, first.trainedLength);
    const status = layers.some(({ wrong }) => wrong) ? ILL : HEALTHY;
    return { settings, layers, places, isOpen, status };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { error: oneLine(error.message), at: error.at, places, status: COULD_NOT_TELL };
  }
}

/** Whether a configuration leaves it open how long sequences of training were. */
function takesAnother(config, length) {
  try {
    readConfig(config, null, (length ?? 1n) + 1n);
    return true;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return false;
  }
}

/** The words that the command prints. */
export const printout = ({ layers }) =>
  [...layers.map((one) => worded(FILE, one)), explain.REPORT].join("\n\n");

/** The JSON that it prints with --json. */
export const json = ({ layers, status }) =>
  dumps({ path: FILE, status: BigInt(status), layers, report: explain.REPORT }, 1);
