// posenc/config/serving.py: what to start a program with, so that it serves a model at a length.

import { remedyOf } from "./explain.js";
import { Refusal, dumps, general, isInteger, isMissing, isObject, printable, repr } from "./python.js";
import { explain, families, keys, serving as texts } from "./tables.js";
import { wrap } from "./wrap.js";

const { BASE, SHARE, UNSCALED_WINDOWS } = families;
const { ATTN, LENGTHS, SYNONYMS } = keys;
const { BY_WINDOW, DEFAULT_BASE, FLAGS, LLAMA_CPP, MODEL, NOTES, PARAMETERS, SGLANG, TRANSFORMERS, VLLM } = texts;
const WIDTH = Number(explain.WIDTH);

export const { PROGRAMS } = texts;

/** What to start a program with: lines of a shell or of Python, none if nothing helps, and notes. */
export function servingOf(program, configs, found) {
  if (configs[0].scheme === "axial") {
    throw new Refusal(`--for must be left out with a diffusion transformer; got ${program}`);
  }
  const [{ asked_length: length, set_in: place }] = found;
  if (length === null) {
    throw new Refusal(
      "--length must be given, as the configuration promises none; got none",
    );
  }
  const helpless = found.find(({ wrong, set }) => wrong && set === null);
  if (helpless) return { program, lines: [], notes: [remedyOf(helpless).says] };
  const changes = changesFor(configs, found, length);
  const notes = notesOf(program, configs, found, changes);
  if (program === LLAMA_CPP) return llamaCpp(configs, found, length, notes);
  if (program === TRANSFORMERS) return { program, lines: python(place, changes), notes };
  const names = (place ?? "").split(".").filter(Boolean).reverse();
  const inner = changes.size ? names.reduce((all, name) => new Map([[name, all]]), changes) : changes;
  const [start, override, limit] = {
    [VLLM]: [`vllm serve ${MODEL}`, "--hf-overrides", "--max-model-len"],
    [SGLANG]: [
      `python -m sglang.launch_server --model-path ${MODEL}`,
      "--json-model-override-args",
      "--context-length",
    ],
  }[program];
  const options = inner.size ? [`${override} ${quoted(inOneLine(inner))}`] : [];
  return { program, lines: command(start, [...options, `${limit} ${length}`]), notes };
}

/** The lines, and the notes as comments below them. */
export const servingText = ({ lines, notes }) =>
  [...lines, ...notes.flatMap((note) => wrap(printable(note), WIDTH, "# ", "# "))].join("\n");

/** json.dumps(value). */
const inOneLine = (value) => dumps(value, 0).replaceAll(",\n", ", ").replaceAll("\n", "");

/** shlex.quote(text) of a text with spaces. */
const quoted = (text) => `'${text.replaceAll("'", `'"'"'`)}'`;

/** A command of a shell with an option a line. */
const command = (start, options) =>
  [start, ...options.map((option) => `  ${option}`)].map((line, n) =>
    n < options.length ? `${line} \\` : line,
  );

function python(place, changes) {
  const part = place === null ? "config" : `config.${place}`;
  return [
    "from transformers import AutoConfig, AutoModelForCausalLM",
    "",
    `config = AutoConfig.from_pretrained("${MODEL}")`,
    ...(changes.size ? [`${part}.update(${repr(changes)})`] : []),
    `model = AutoModelForCausalLM.from_pretrained("${MODEL}", config=config)`,
  ];
}

/** The entries to change: the lengths that are too short, and the rule, whole. */
function changesFor(configs, found, length) {
  const { entries } = configs[0].place;
  const changes = new Map();
  if (!configs.some(({ scheme }) => scheme === "dynamic")) {
    const given = entries.given(LENGTHS);
    const short = given.filter((key) => (entries.integer(key) ?? 0n) < length);
    for (const key of given.length ? short : LENGTHS.slice(0, 1)) changes.set(key, length);
  }
  const told = found.filter(({ wrong }) => wrong);
  for (const { set } of told) {
    for (const [key, value] of set) if (isInteger(value)) changes.set(key, value);
  }
  if (!told.length) return changes;
  const sections = new Map(
    configs.flatMap((config, n) =>
      config.base === null ? [] : [[config.layerType, sectionOf(config, found[n])]],
    ),
  );
  const isByWindow =
    BY_WINDOW.every((name) => sections.has(name)) &&
    !UNSCALED_WINDOWS.includes(configs[0].place.kind);
  return changes.set(PARAMETERS, isByWindow ? sections : sections.get(told[0].layer_type));
}

/** The rule of some layers, new or as it is, with the base and the share in it. */
function sectionOf(config, { wrong, set }) {
  let rule = config.place.section.mapping;
  if (wrong) {
    rule = [...set.values()].find(isObject);
    rule = rule.get(String(config.layerType)) ?? rule;
  }
  const kind = rule.get("rope_type") ?? rule.get("type") ?? "default";
  let share = Number(config.rotaryD) / Number(config.d);
  if (Math.trunc(Number(config.d) * share) < Number(config.rotaryD)) share *= 1 + 2 ** -52;
  const whole = new Map([
    ["rope_type", SYNONYMS.get(kind) ?? kind],
    [BASE, config.base],
  ]);
  if (share !== 1) whole.set(SHARE, share);
  for (const [key, value] of rule) {
    if (!isMissing(value) && !["type", "rope_type", BASE].includes(key)) whole.set(key, value);
  }
  return whole;
}

/** The line for llama.cpp, which takes a rule as options and no configuration. */
function llamaCpp(configs, found, length, notes) {
  const options = [`-c ${length}`];
  const n = found.findIndex(({ wrong }) => wrong);
  if (n >= 0) {
    const rule = sectionOf(configs[n], found[n]);
    const [kind, factor] = [rule.get("rope_type"), rule.get("factor")];
    if (!["linear", "yarn"].includes(kind)) {
      const said =
        `llama.cpp has no option for rope_type "${kind}". Write the new rule into config.json and` +
        " convert the model again.";
      return { program: LLAMA_CPP, lines: [], notes: [said] };
    }
    options.push(`--rope-scaling ${kind}`, `--rope-scale ${general(factor, 15)}`);
    if (kind === "yarn") {
      options.push(`--yarn-orig-ctx ${configs[n].trainedLength}`);
      for (const [key, flag] of FLAGS) {
        if (rule.has(key)) options.push(`${flag} ${general(rule.get(key), 15)}`);
      }
    }
  }
  return { program: LLAMA_CPP, lines: command(`llama-server -m ${MODEL}.gguf`, options), notes };
}

/** How the program reads what is set, where others read it differently. */
function notesOf(program, configs, found, changes) {
  const has = (key) => configs.some(({ place }) => place.section.has(key));
  const isSet = changes.has(PARAMETERS);
  const isNested = changes.get(PARAMETERS)?.has(BY_WINDOW[0]) ?? false;
  const windows = found.some(({ windowed_layers: all, wrong }) => all?.length && wrong);
  const reasons = {
    rule: isSet,
    length: LENGTHS.some((key) => changes.has(key)),
    dynamic: configs.some(({ scheme }) => scheme === "dynamic"),
    [ATTN]: has(ATTN),
    attention_factor: has("attention_factor"),
    truncate: configs.some(({ settings }) => settings.truncate === false),
    window: windows && isSet && !isNested,
  };
  const said = NOTES.get(program);
  const notes = Object.keys(reasons).flatMap((reason) =>
    reasons[reason] && said.has(reason) ? [said.get(reason)] : [],
  );
  if (isSet && program !== LLAMA_CPP && found.some(({ base_given: isGiven }) => !isGiven)) {
    notes.push(DEFAULT_BASE);
  }
  return configs.some(({ place }) => place.assumed) ? [...notes, explain.ASSUMED] : notes;
}
