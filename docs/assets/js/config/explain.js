// posenc/config/explain.py: a configuration at a length, in numbers and in words.

import { list } from "../positions.js";
import { neverRound, unseenPairs } from "./angles.js";
import { frequenciesOf } from "./config.js";
import { dumps, general, grouped, printable, rounded } from "./python.js";
import { frequencies } from "./scaling.js";
import { explain, families, keys } from "./tables.js";
import { wrap } from "./wrap.js";

const { LENGTHS, NONE, SAME_LENGTHS } = keys;
const { BASE, META, ORIGINAL, RULELESS, WIDTH: HEAD_WIDTH, WIDTHLESS } = families;
const { EXTENSIBLE } = explain;
const [SHOWN, WIDTH, LARGE] = [explain.SHOWN, explain.WIDTH, explain.LARGE].map(Number);

const least = (a, b) => (b === null || a < b ? a : b);

/** What a configuration does, as numbers, under the names of the command's JSON; `length` is how
    many positions a sequence is to have, a BigInt, or null for as many as are promised. */
export function explained(config, length = null) {
  const asked = length ?? config.length ?? config.trainedLength;
  const met = metBy(config);
  const pairs = config.scheme === NONE ? [] : pairsOf(config, asked);
  const count = (name) => BigInt(pairs.filter((pair) => pair[name]).length);
  const wrong = asked !== null && met !== null && asked > met && count("unseen") > 0;
  const set = wrong ? remedy(config, asked, met) : null;
  return {
    model_type: config.place.entries.text("model_type"),
    layer_type: config.layerType,
    rotates: config.rotates,
    layers: config.numbers,
    windowed_layers: config.windowed,
    layer_count: config.count,
    scheme: config.scheme,
    d: config.d,
    rotary_d: config.rotaryD,
    base: config.base,
    base_given: config.baseGiven,
    layout: config.layout,
    factor: config.factor,
    trained_length: config.trainedLength,
    length: config.length,
    asked_length: asked,
    window: config.place.window,
    attention_factor: config.attentionFactor,
    softmax_factor: config.softmaxFactor,
    sections: config.sections,
    interleaved_sections: config.interleavedSections,
    settings: config.settings,
    never_round: count("never_round"),
    unseen: count("unseen"),
    wrong,
    set,
    set_in: config.place.entries.place.replace(/\.+$/, "") || null,
    notes: [...config.notes, ...furtherNotes(config, set)],
    pairs,
  };
}

/** What is assumed of the training, and of the program that reads what to set. */
function furtherNotes({ place }, set) {
  const isMeta = place.entries.text("model_type") === META;
  const isRenamed = !isMeta && set?.has("rope_parameters");
  return [...(place.assumed ? [explain.ASSUMED] : []), ...(isRenamed ? [explain.RENAMED] : [])];
}

/** The length whose angles the model has met: without a rule, that of training. */
function metBy({ scheme, length, trainedLength }) {
  return scheme === "default" ? trainedLength : (length ?? trainedLength);
}

/** How far apart a query and a key can be, plus one: a window has no further keys. */
const within = (config, length) => Number(least(length, config.place.window));

/** What becomes of each pair: before and after the rule, in training and now. */
function pairsOf(config, asked) {
  const now = frequenciesOf(config, asked);
  const plain = config.scheme === "axial" ? now : frequencies(Number(config.rotaryD), config.base);
  const [omega, length] = training(config, plain);
  const isKnown = length !== null && asked !== null;
  const trained = isKnown ? within(config, length) : Number(length);
  const moves = now.map((one) => one > 0);
  const slow = isKnown ? neverRound(omega, trained).map((one, i) => one && moves[i]) : [];
  const fresh = isKnown ? unseenOf(config, plain, asked) : [];
  return now.map((frequency, i) => ({
    pair: BigInt(i),
    frequency,
    turns: length === null ? null : (trained * omega[i] * moves[i]) / (2 * Math.PI),
    slowed: Number.isFinite(plain[i] / frequency) ? plain[i] / frequency : null,
    never_round: slow[i] ?? false,
    unseen: fresh[i] ?? false,
  }));
}

/** The frequencies of training, and its length; those promised if it is open. */
function training(config, plain) {
  if (config.trainedLength !== null || config.length === null) return [plain, config.trainedLength];
  return [frequenciesOf(config, config.length), config.length];
}

/** Which pairs go beyond all angles that the model has met, or those of training. */
function unseenOf(config, plain, asked) {
  const [now, promised] = [frequenciesOf(config, asked), metBy(config)];
  const ends = [[plain, config.trainedLength]];
  if (promised !== null) ends.push([frequenciesOf(config, promised), promised]);
  const length = within(config, asked);
  const all = ends
    .filter(([, end]) => end !== null)
    .map(([omega, end]) => {
      const slowed = omega.map((one, i) => one / now[i]);
      return unseenPairs(omega, slowed, { trained: within(config, end), length });
    });
  const isOpen = config.scheme === "llama3" && config.length === null;
  return now.map((one, i) => one > 0 && !isOpen && all.every((unseen) => unseen[i]));
}

/** The entries to change for more positions than met, or null if there are none. A model without a
    rule gets YaRN's, beside what its section says; one with a rule that has a factor a larger. */
function remedy(config, asked, met) {
  const { entries, section, layers, kind } = config.place;
  const inside = section.place.startsWith(entries.place)
    ? section.place.slice(entries.place.length)
    : section.place;
  const [key, inner] = inside.split(".").slice(0, -1);
  const isReadable = !RULELESS.includes(entries.text("model_type"));
  if (!EXTENSIBLE.includes(config.scheme) || !key || !isReadable) return null;
  const factor = factorFor(config, asked, met);
  const isDynamic = config.scheme === "dynamic";
  if (factor > LARGE && isDynamic) return null;
  // Dynamic NTK goes by the trained length, and promises what its factor says.
  const found = new Map(isDynamic ? [] : lengthsOf(entries).map((name) => [name, asked]));
  if (WIDTHLESS.includes(kind) && !entries.has(HEAD_WIDTH)) found.set(HEAD_WIDTH, config.d);
  const rule = extended(config, asked, factor);
  if (inner !== undefined) {
    return found.set(key, new Map([...entries.mapping.get(key), [inner, rule]]));
  }
  const types = [...layers].filter(([name, one]) => name && one);
  const isBoth = ["full_attention", "sliding_attention"].every((name) =>
    types.some(([own]) => own === name),
  );
  if (key === "rope_parameters" && isBoth) {
    // One rule for all would be read by none of these layers.
    const said = types.map(([name, one]) => [name, one.entries.mapping]);
    return found.set(key, new Map([...said, [config.layerType, rule]]));
  }
  return found.set(key, rule);
}

/** The keys that promise a length, which must agree. */
function lengthsOf(entries) {
  const first = entries.given(LENGTHS)[0] ?? LENGTHS[0];
  return SAME_LENGTHS.includes(first) ? [first, ...entries.given(SAME_LENGTHS)] : [first];
}

/** The smallest factor, in hundredths, that brings no new angle in so many positions: these, divided
    by those that pairs slowed in full have met, in plain frequencies. Dynamic NTK slows the fastest
    of the pairs that complete no turn the least, so that pair decides. */
function factorFor(config, asked, met) {
  const trained = Number(config.trainedLength ?? 0n);
  let hundredths;
  if (config.scheme === "dynamic") {
    const [d, end] = [Number(config.rotaryD), within(config, config.trainedLength)];
    const first = neverRound(frequencies(d, config.base), end).filter((slow) => !slow).length;
    const slowed = Math.log(within(config, asked) / end);
    const power = first ? ((d - 2) / (2 * first)) * slowed : Infinity;
    const larger = Math.exp(Math.min(power, 99)) - 1;
    hundredths = (100 * larger * trained) / Number(asked - config.trainedLength);
  } else {
    const since = config.scheme === "yarn" ? 0 : Number(met) / config.factor;
    hundredths = Number(100n * asked) / Math.max(trained, since);
  }
  return Math.ceil(Number(hundredths.toFixed(6))) / 100; // 2.2, not 2.21
}

/** The section of a rule with another factor, for so many positions. */
function extended({ place, scheme, base, trainedLength }, asked, factor) {
  const rule = new Map(place.section.mapping);
  if (scheme === "default") {
    rule.delete("type");
    rule.set("rope_type", "yarn").set("rope_theta", base);
  }
  rule.set("factor", factor);
  if (!["linear", "dynamic"].includes(scheme)) rule.set(ORIGINAL, trainedLength); // some would take the promised length
  if (rule.has(LENGTHS[0])) rule.set(LENGTHS[0], asked);
  return rule;
}

// Words

/** The numbers in words, under the name of the configuration. */
export function worded(name, found) {
  const lines = [`${titleOf(name, found)}: ${schemeOf(found)}`, ""];
  const facts = factsOf(found).flatMap(([what, text]) =>
    wrap(text, WIDTH, `  ${what.padEnd(10)}`, " ".repeat(12)),
  );
  lines.push(...facts, "");
  if (found.scheme !== NONE) {
    lines.push(...tableOf(found), "", ...wrap(verdictOf(found), WIDTH, "  "), "");
  }
  if (found.wrong) lines.push(...settings(found), "");
  const notes = found.notes.flatMap((note) => wrap(printable(note), WIDTH, "  - ", "    "));
  return [...lines, ...notes].join("\n").trimEnd();
}

/** What this is about. */
export function titleOf(name, { layer_type: type }) {
  return printable(type === null ? name : `${name}, layers of type "${type}"`);
}

/** The rule, its factor and the base. */
export function schemeOf({ scheme, factor, base, base_given: isGiven }) {
  if (scheme === NONE) return "no rotation";
  const scaled = factor === 1 ? "" : `, factor ${general(factor, 10)}`;
  const given = isGiven ? "" : ", not in the file";
  return `${scheme}${scaled}, base ${grouped(general(base, 10))}${given}`;
}

/** Facts about widths, lengths and factors, [what, text]. */
export function factsOf(found) {
  const layout = found.layout ? `layout "${found.layout}"` : "layout not settled";
  const lengths = [
    [found.trained_length, "trained"],
    [found.length, "promised"],
  ].map(([length, word]) => (length ? `${grouped(length)} ${word}` : `${word}: not given`));
  if (found.asked_length) lengths.push(`${grouped(found.asked_length)} asked about`);
  if (found.window) lengths.push(`a window of ${grouped(found.window)}`);
  let scores = "not scaled";
  if (found.attention_factor !== 1) {
    scores = `rotated dimensions times ${general(found.attention_factor, 10)}`;
  }
  if (found.softmax_factor !== 1) {
    scores += `, all scores times ${general(found.softmax_factor, 10)}`;
  }
  if (found.scheme === NONE) return [["layers", layersOf(found)]];
  const moving = movingOf(found);
  const rows = [
    ["layers", layersOf(found)],
    ["head", `${found.d} wide, ${2 * moving} rotated, ${moving} pairs, ${layout}`],
    ["lengths", lengths.join(", ")],
    ["scores", scores],
  ];
  if (found.sections?.length) {
    const how = found.interleaved_sections ? "interleaved" : "contiguous";
    rows.push(["sections", `${found.sections.join(" + ")} pairs, ${how}`]);
  }
  return rows;
}

/** How many pairs do not stand still. */
const movingOf = ({ pairs }) => pairs.filter(({ frequency }) => frequency > 0).length;

/** Which layers this is about, by number, and which of them have a window. */
function layersOf({ rotates, layers, windowed_layers: windowed, layer_count: count }) {
  const verb = rotates === false ? "do not rotate" : "rotate";
  if (rotates === null) return withWindows("which rotate is not known", windowed, null);
  if (layers === null && count === null) return "the number of layers is not given";
  if (layers === null) return `which of the ${count} ${verb} is not known`;
  const isAll = BigInt(layers.length) === count;
  if (rotates === false && isAll) return `none of ${count} rotates`;
  const said = isAll ? `all ${count}` : `${numbered(layers)} of ${count}`;
  return withWindows(`${said} ${verb}`, windowed, layers);
}

function withWindows(said, windowed, layers) {
  if (!windowed?.length) return said;
  const isAll = windowed.length === layers?.length;
  return `${said}; with a window: ${isAll ? "all of them" : numbered(windowed)}`;
}

/** Numbers in words, runs of them by their ends. */
export function numbered(numbers) {
  const runs = [];
  for (const number of numbers) {
    const run = runs.at(-1);
    if (run && number === run.at(-1) + 1n) run.push(number);
    else runs.push([number]);
  }
  const part = (run) => (run.length > 2 ? `${run[0]}-${run.at(-1)}` : run.join(", "));
  return runs.map(part).join(", ") || "none";
}

/** The heads of the table of pairs. */
export const COLUMNS = ["pair", "turns in training", "slowed by", "angles"];

/** Some of the pairs, the first and the last among them, as cells under these heads. */
export function cellsOf(found) {
  const { pairs } = found;
  const count = Math.min(SHOWN, pairs.length);
  const step = (pairs.length - 1) / Math.max(count - 1, 1);
  const places = new Set(list(count, (n) => Number(rounded(n * step))));
  return [...places].map((place) => {
    const { pair, turns, slowed, unseen, never_round: slow } = pairs[place];
    const met = turns === null || (slow && isUnclear(found)) ? "-" : "met";
    return [
      String(pair),
      turns === null ? "-" : general(turns, 4),
      slowed === null ? "all" : general(slowed, 4),
      unseen ? "new" : met,
    ];
  });
}

function tableOf(found) {
  return [COLUMNS, ...cellsOf(found)].map(
    ([pair, turns, slowed, angles]) =>
      `  ${pair.padStart(6)}${turns.padStart(20)}${slowed.padStart(12)}  ${angles}`,
  );
}

/** Whether slow pairs leave the angles before scaling, and those after it are not known. */
const isUnclear = ({ scheme, length, asked_length: asked, factor, trained_length: trained }) =>
  scheme === "llama3" && !length && Number(asked) > factor * Number(trained);

/** How many pairs complete no turn, and what the length brings, in sentences. */
export function verdictOf(found) {
  const whole = found.trained_length || found.length;
  if (!whole) {
    return "No length is given, so it is not known which pairs complete a turn in training.";
  }
  const trained = grouped(least(whole, found.window));
  const moving = movingOf(found);
  const still = found.pairs.length - moving;
  const said =
    `${found.never_round} of ${moving} pairs complete no turn within ${trained} positions.` +
    `${still ? ` ${still} more stand still.` : ""}`;
  const asked = `${grouped(found.asked_length)} positions`;
  if (found.unseen) return `${said} In ${asked}, ${found.unseen} of the ${moving} pairs meet new angles.`;
  if (isUnclear(found)) return `${said} Whether these meet new angles in ${asked} is not known.`;
  return `${said} In ${asked}, no pair meets a new angle.`;
}

/** What to set: a sentence, and the lines of JSON to copy, none if nothing helps. */
export function remedyOf({ model_type: kind, scheme, set, set_in: place, base_given: isGiven }) {
  if (kind === META) {
    const says =
      "What helps: a params.json has no place for another rule. Convert the weights, and ask about" +
      " the config.json or the GGUF file that comes of it, or feed the model fewer tokens.";
    return { says, lines: [] };
  }
  if (RULELESS.includes(kind)) {
    const feed = "Feed the model fewer tokens, or rotate by yarn_frequencies in your own code.";
    const says = `What helps: transformers 5.24 reads no rule for model type "${kind}". ${feed}`;
    return { says, lines: [] };
  }
  if (!set) {
    const says =
      scheme === "dynamic"
        ? "What helps: a larger factor brings fewer new angles, but changes every sequence beyond" +
          " the trained length."
        : `What helps: rope_type "${scheme}" cannot be extended. Feed the model fewer tokens,` +
          " or train it on longer sequences.";
    return { says, lines: [] };
  }
  const where = place ? ` inside ${place}` : "";
  const lines = dumps(set, 2).split("\n").slice(1, -1);
  const given =
    isGiven || !lines.some((line) => line.includes(BASE))
      ? ""
      : ` (${BASE} is the default of the model's code: if the model was trained with another base,` +
        " put that in its place)";
  return { says: `What to set${where}${given}:`, lines };
}

function settings(found) {
  const { says, lines } = remedyOf(found);
  return [...wrap(says, WIDTH, "  "), ...lines.map((one) => `  ${one}`)];
}
