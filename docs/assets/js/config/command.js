// `config` of posenc/__main__.py: what `posenc config PATH --length N` answers.

import { frequenciesOf, readConfig } from "./config.js";
import { load } from "./entries.js";
import { explained, worded } from "./explain.js";
import { Refusal, dumps, oneLine } from "./python.js";
import { explain } from "./tables.js";

export const [HEALTHY, ILL, COULD_NOT_TELL] = [0, 1, 2]; // exit statuses
export const FILE = "config.json"; // the name under which the text is read

// A number of times 1024, or of its square.
const TIMES = { "": 1n, k: 2n ** 10n, m: 2n ** 20n };

/** The length that is asked about, a BigInt, from what stands in a field; null if nothing does. */
export function lengthIn(text) {
  const written = text.trim();
  if (!written) return null;
  const [, digits, unit] = written.match(/^([+-]?\d+(?:_\d+)*)\s*([km]?)$/i) ?? [];
  if (digits === undefined) {
    throw new Refusal(`argument --length: invalid length value: '${written}'`);
  }
  return BigInt(digits.replace(/[+_]/g, "")) * TIMES[unit.toLowerCase()];
}

/** What is read and computed for each type of layers, or the error, and the exit status. */
export function answered(text, length) {
  let places = new Map();
  try {
    const loaded = load(text, FILE);
    places = loaded.places;
    const first = readConfig(loaded.config);
    if (length !== null) frequenciesOf(first, length);
    const types = first.layerTypes.length ? first.layerTypes : [null];
    const settings = types.map((type) => readConfig(loaded.config, type));
    const layers = settings.map((one) => explained(one, length));
    return { settings, layers, places, status: layers.some(({ wrong }) => wrong) ? ILL : HEALTHY };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { error: oneLine(error.message), at: error.at, places, status: COULD_NOT_TELL };
  }
}

/** The words that the command prints. */
export const printout = ({ layers }) =>
  [...layers.map((one) => worded(FILE, one)), explain.REPORT].join("\n\n");

/** The JSON that it prints with --json. */
export const json = ({ layers, status }) =>
  dumps({ path: FILE, status: BigInt(status), layers, report: explain.REPORT }, 1);
