// posenc/config/rule.py: the base, the lengths and the rule of the frequencies.

import { PART_WIDTHS, checkedWidths, sum } from "./diffusion.js";
import { agreed, refuseUnknown } from "./entries.js";
import { typeOf } from "./keys.js";
import { Refusal, general, isObject, rounded, shown, truncated } from "./python.js";
import { longropeTemperature, yarnTemperature } from "./scaling.js";
import { diffusion, entries as limits, families, keys, rule as texts, scaling } from "./tables.js";

const { ALPHA, BASE, FIXED, META, MULTIPLIED, ORIGINAL, REMOTE } = families;
const { SHARE, STEPPING, WIDTH } = families;
const { ATTENTION, ATTN, BASES, CHUNKS, COMMON, EXTRAPOLATION, LENGTHS, OF_YARN } = keys;
const { RATIO, RULES, SAME_LENGTHS, SCALE, STEPS, TELECHAT, TRAINED } = keys;
const ABOVE_ZERO = { least: 0, above: true };
const ABOVE_ONE = { least: 1, above: true };

/** A rule that changes nothing; lengths are integers, BigInts, or null. */
export const PLAIN = {
  base: null,
  factor: 1,
  trainedLength: null,
  length: null,
  attentionFactor: 1,
  softmaxFactor: 1,
  settings: {},
  baseGiven: true,
};

/** How layers that rotate are rotated. */
export function ruleOf(reading, section, head) {
  const { entries } = section;
  const kind = typeOf(entries);
  let scheme = kind === "dynamic" && entries.has("alpha") ? "ntk" : kind;
  if (scheme === "fixed-ntk" && reading.known && !FIXED.includes(reading.kind)) {
    throw new Refusal(
      `${entries.path("type")} must not be "ntk" with model type ${shown(reading.kind)}, which has` +
        " no such rule",
    );
  }
  if (scheme === "ntk" && reading.known && !ALPHA.includes(reading.kind)) {
    throw new Refusal(
      `${entries.path("alpha")} must be in a configuration of HunYuan, the only model that reads it;` +
        ` got model type ${shown(reading.kind)}`,
    );
  }
  refuseUnknown(entries, new Set([...COMMON, ...RULES.get(scheme)]), `rope_type "${kind}"`);
  if (scheme === "default") scheme = outerScheme(reading);
  if (kind === "dynamic" && head.rotaryD < 4) {
    throw new Refusal(
      `${WIDTH} must be 4 or more with rope_type "${kind}"; got a rotated width of ${head.rotaryD}`,
    );
  }
  const [base, baseGiven] = baseOf(reading, section);
  const length = promisedLength(reading.entries);
  const start = { ...PLAIN, scheme, base, length, trainedLength: length, baseGiven };
  const rule = { ...start, ...READERS[scheme](reading, entries, head, start) };
  if (rule.length !== null && rule.length > limits.LARGEST) {
    const path = entries.path("factor");
    throw new Refusal(`${path} must promise at most 2**53 positions; got ${general(rule.factor)}`);
  }
  return rule;
}

/** The rule that a key outside of a section names, as in code that comes with weights. */
function outerScheme({ entries, kind, known }) {
  if (entries.flag(STEPS, false) && (STEPPING.includes(kind) || !known)) return "ntk-steps";
  if (kind === diffusion.KIND && entries.has(PART_WIDTHS)) return "axial";
  return [null, 1].includes(entries.number(SCALE, ABOVE_ZERO)) ? "default" : "linear";
}

/** The base, which a model type may take for given, and whether the file has it. */
function baseOf(reading, { entries, apart, baseGiven }) {
  const { entries: outer, known, defaults, notes } = reading;
  if (entries.mapping.has(BASE) && !entries.has(BASE)) {
    throw new Refusal(
      `${entries.path(BASE)} must be the base that the model was trained with; got null, as` +
        " transformers 5 writes it after config.rope_scaling = ..., and cannot load it",
    );
  }
  const bases = new Map([[entries.path(BASE), entries.number(BASE, ABOVE_ONE)]]);
  if (!apart) {
    for (const key of BASES) bases.set(outer.path(key), outer.number(key, ABOVE_ONE));
    for (const [path, one] of baseOfAttention(outer)) bases.set(path, one);
  }
  const base = agreed(bases);
  const given = [...bases.keys()].filter((path) => bases.get(path) !== null);
  const isOnlyIn = (path) => given.length === 1 && given[0] === path;
  if (base === null && !known) {
    throw new Refusal(
      `${BASE} must be given, as the default of this model type is not known; got none`,
    );
  }
  if (base === null) {
    const taken = defaults.get(BASE);
    const taker = REMOTE.has(reading.kind) ? "The code of this model" : "transformers";
    const said = `${BASE} is not given. ${taker} uses ${general(taken, 15)} for this model type.`;
    notes.push(REMOTE.has(reading.kind) ? said : `${said} ${texts.LOST}`);
    return [timesRatio(reading, taken), false];
  }
  // Not where rope_parameters are those of the model type, or put together.
  const isInside = !reading.completed && outer.has("rope_parameters");
  if (isOnlyIn(`rope_parameters.${BASE}`) && isInside) {
    notes.push(
      `${BASE} is in rope_parameters. A program that looks for it outside uses its own default,` +
        " as DeepSpeed did (PR 8345).",
    );
  } else if (isOnlyIn(baseOfAttention(outer)[0]?.[0])) {
    const taken = known ? `, as transformers 5.24 does: ${general(defaults.get(BASE), 15)}` : "";
    notes.push(
      `${BASE} is in ${ATTENTION}. A program that looks for it outside uses its own default${taken}.`,
    );
  }
  const isCompleted = reading.completed && entries.place.startsWith("rope_parameters.");
  return [timesRatio(reading, base), baseGiven && !isCompleted];
}

/** The base times `rope_ratio`, if that is given. */
function timesRatio({ entries, kind, notes }, base) {
  const ratio = entries.number(RATIO, ABOVE_ZERO);
  if (ratio === null) return base;
  if (!MULTIPLIED.includes(kind)) {
    throw new Refusal(
      `${entries.path(RATIO)} must be a key that is read, as only with model type "chatglm";` +
        ` got ${shown(entries.mapping.get(RATIO))}`,
    );
  }
  notes.push(`${RATIO} multiplies the base, as in the code of ChatGLM (rtp-llm, chat_glm_v3.py).`);
  return base * ratio;
}

/** The base in the settings of attention, by its name, as DBRX has it. */
function baseOfAttention(entries) {
  if (!isObject(entries.mapping.get(ATTENTION))) return [];
  const attention = entries.within(ATTENTION);
  return [[attention.path(BASE), attention.number(BASE, ABOVE_ONE)]];
}

/** The length that a configuration promises. */
export function promisedLength(entries) {
  const given = SAME_LENGTHS.map((one) => [entries.path(one), entries.integer(one)]);
  if (entries.has(TRAINED)) {
    // One of them is the trained length.
    const lengths = given.map(([, length]) => length).filter((length) => length);
    return lengths.length ? lengths.reduce((a, b) => (a > b ? a : b)) : null;
  }
  agreed(given);
  const [key] = entries.given(LENGTHS);
  return key === undefined ? null : entries.integer(key);
}

/** The length before the context was extended. */
function originalOf({ entries: outer, notes }, entries, length) {
  const original = agreed(
    [
      [outer, ORIGINAL],
      [outer, TRAINED],
      [entries, ORIGINAL],
    ].map(([one, key]) => [one.path(key), one.integer(key, { least: 2 })]),
  );
  if (original !== null && length !== null && length < original) {
    notes.push(
      `${ORIGINAL} is ${original}, more than ${LENGTHS[0]}, ${length}. transformers uses the` +
        " former as the length before the rule was applied.",
    );
  }
  return original;
}

/** The factor, which must be there. */
const factorOf = (entries) => entries.requiredNumber("factor", { least: 1 });

/** A length that the rule cannot do without. */
function needed({ entries }, length, scheme, least = 1) {
  const path = entries.path(LENGTHS[0]);
  if (length === null) {
    throw new Refusal(`${path} must be given with rope_type "${scheme}"; got none`);
  }
  if (length < least) {
    throw new Refusal(`${path} must be ${least} or more with rope_type "${scheme}"; got ${length}`);
  }
  return length;
}

function readDefault(reading, entries, head, { length }) {
  const original = originalOf(reading, entries, length) || chunkedLength(reading);
  const assumed = original === null && length !== null;
  return { trainedLength: original || length, assumed };
}

function readAxial({ entries }, _, head) {
  const widths = checkedWidths(entries, PART_WIDTHS, entries.mapping.get(PART_WIDTHS));
  agreed([
    [entries.path(WIDTH), head.rotaryD],
    [`the sum of ${PART_WIDTHS}`, sum(widths)],
  ]);
  return { settings: { widths } };
}

/** The length before attention went by chunks, as in Qwen2.5-1M. */
function chunkedLength({ entries, notes }) {
  const chunks = entries.within(CHUNKS);
  const original = chunks.integer(ORIGINAL, { least: 2 });
  if (original !== null) {
    notes.push(
      `${chunks.path(ORIGINAL)} is ${original}. vLLM attends in chunks, so that no distance is` +
        " larger than that; transformers does not read it.",
    );
  }
  return original;
}

function readSteps(reading, entries, head, { length }) {
  const trained = reading.entries.integer("seq_length") || length;
  reading.notes.push(
    `Beyond ${trained === null ? "None" : trained} positions the base grows with each doubling of the` +
      " length, as in the code of Qwen-7B, whose scores are also scaled by the logarithm of the" +
      " position if use_logn_attn says so.",
  );
  return { trainedLength: needed(reading, trained, STEPS) };
}

function readFixedNtk({ notes }, entries) {
  notes.push(
    "The base is larger at every length, and all pairs are slowed in addition:" +
      " NTKScalingRotaryEmbedding in the code that comes with the weights, and in vLLM." +
      " transformers has no such rule.",
  );
  return { factor: factorOf(entries) };
}

/** Note which length is taken for the trained one where that is not given. */
function noteMissing({ notes }, original, trained) {
  if (original !== null) return;
  notes.push(
    `${texts.UNGIVEN}. transformers uses ${LENGTHS[0]}, ${trained}. This answer holds only if` +
      " sequences in training were that long: if they were shorter, set the key to their length.",
  );
}

function readLinear(reading, entries, head, { length }) {
  const original = originalOf(reading, entries, length);
  const scale = reading.entries.number(SCALE, ABOVE_ZERO);
  const factor = scale === null ? factorOf(entries) : 1 / scale;
  if (original === null && factor !== 1) {
    reading.notes.push(
      `With "linear", ${LENGTHS[0]} is the length before scaling to some programs, and the length` +
        ` after it to others: vLLM multiplies it by the factor, ${general(factor)}, and transformers` +
        " does not. So the trained length is open.",
    );
  }
  return { factor, trainedLength: factor === 1 ? length : original };
}

function readDynamic(reading, entries, head, { length }) {
  const factor = factorOf(entries);
  const trained = needed(reading, length, "dynamic");
  reading.notes.push(
    "The frequencies depend on the length of the whole sequence. transformers goes by the" +
      " longest it has read so far, and keys in its cache keep the earlier frequencies (issue 25104).",
  );
  return { factor, length: truncated(Number(trained) * factor) };
}

function readNtk(reading, entries) {
  const unread = entries.given(["factor", ...[...OF_YARN].sort()]);
  for (const key of unread) entries.number(key, { least: 0 });
  const verb = unread.length === 1 ? "has" : "have";
  const said = unread.length ? ` ${unread.join(", ")} ${verb} no effect.` : "";
  reading.notes.push(`With alpha, the base is larger at every length.${said}`);
  if (!ALPHA.includes(reading.kind)) {
    reading.notes.push(
      "It is unclear whether alpha is read, as this model type is not known: transformers reads it" +
        " only for HunYuan, vLLM for every model.",
    );
  }
  return { factor: entries.requiredNumber("alpha", { least: 1 }) };
}

function readLlama3(reading, entries, head, { length }) {
  const factor = factorOf(entries);
  const original = originalOf(reading, entries, length);
  const trained = needed(reading, original ?? length, "llama3");
  noteMissing(reading, original, trained);
  const low = entries.requiredNumber("low_freq_factor", ABOVE_ZERO);
  const high = entries.requiredNumber("high_freq_factor", ABOVE_ZERO);
  checkOrder(entries, ["low_freq_factor", low], ["high_freq_factor", high]);
  const isOpen = length === null && reading.kind === META;
  if (isOpen) {
    reading.notes.push(
      `The file does not say how long sequences were after scaling: ${trained} is the length before.` +
        " The model card, or the config.json of the model, has the other.",
    );
  }
  return {
    factor,
    trainedLength: trained,
    length: isOpen ? null : (length ?? truncated(Number(trained) * factor)),
    settings: { low, high },
  };
}

/** Refuse a second limit below the first. */
function checkOrder(entries, [first, low], [second, high]) {
  if (high >= low) return;
  const path = entries.path(second);
  throw new Refusal(`${path} must be at least ${first}, ${general(low)}; got ${general(high)}`);
}

function readYarn(reading, entries, head, rule) {
  const said = [reading.entries, entries].map((one) => [
    one.path(LENGTHS[0]),
    one.integer(LENGTHS[0]),
  ]);
  const promised = agreed(said) ?? rule.length;
  const original = originalOf(reading, entries, promised);
  const trained = needed(reading, original ?? promised, "yarn");
  noteMissing(reading, original, trained);
  const isLeftOpen = entries.mapping.has("factor") && !entries.has("factor"); // null
  const factor =
    isLeftOpen && promised !== null
      ? Math.max(Number(promised) / Number(trained), 1)
      : factorOf(entries);
  const length = rounded(factor * Number(trained));
  if (![null, trained, length].includes(promised)) {
    reading.notes.push(
      `${LENGTHS[0]} is ${promised}, but factor times ${ORIGINAL} is ${length}. transformers` +
        " warns and goes by the factor.",
    );
  }
  const fast = entries.number("beta_fast", ABOVE_ZERO) ?? scaling.FAST;
  const slow = entries.number("beta_slow", ABOVE_ZERO) ?? scaling.SLOW;
  checkOrder(entries, ["beta_slow", slow], ["beta_fast", fast]);
  const truncate = entries.flag("truncate", true);
  if (!truncate) {
    reading.notes.push(
      "The ramp is not truncated to integer pairs. mlx-lm 0.32.2 and llama.cpp truncate it all the" +
        " same; vLLM did before PR 28244.",
    );
  }
  if (!entries.flag("apply_yarn_scaling", true)) {
    reading.notes.push(
      "apply_yarn_scaling is false: in that case vLLM used to leave rotated dimensions unscaled." +
        " Neither vLLM 0.33 nor transformers reads it.",
    );
  }
  if (![null, 1].includes(entries.number(EXTRAPOLATION, { least: 0 }))) {
    const value = shown(entries.mapping.get(EXTRAPOLATION));
    throw new Refusal(`${entries.path(EXTRAPOLATION)} must be 1; got ${value}`);
  }
  const [attentionFactor, softmaxFactor] = yarnFactors(reading, entries, head, factor);
  const attn = entries.number(ATTN, ABOVE_ZERO);
  if (attn !== null) {
    reading.notes.push(
      `${ATTN} is ${general(attn)}. Neither transformers nor vLLM 0.33 reads it; SGLang 0.5.23` +
        " and older versions of vLLM multiply the attention factor by it, which makes" +
        ` ${general(attentionFactor * attn, 10)}.` +
        " attention_factor is a different setting: the factor itself.",
    );
  }
  const settings = { fast, slow, truncate };
  return { factor, trainedLength: trained, length, attentionFactor, softmaxFactor, settings };
}

/** By how much YaRN scales rotated dimensions, and by how much the scores beside. */
function yarnFactors({ notes }, entries, head, factor) {
  let given = entries.number("attention_factor", ABOVE_ZERO);
  const [mscale, everywhere] = ["mscale", "mscale_all_dim"].map((key) =>
    entries.number(key, { least: 0 }),
  );
  if (given !== null) {
    notes.push(
      "attention_factor is the factor itself. SGLang 0.5.23 reads it only for a few models; for" +
        " one of them, Laguna, it was multiplied by YaRN's factor (PR 33558), as in TensorRT-LLM" +
        " (PR 16379). mlx-lm 0.32.2 does not read it.",
    );
    if (mscale || everywhere) notes.push("mscale and mscale_all_dim give way to attention_factor.");
  } else if (["rope_type", "type"].some((key) => entries.text(key) === TELECHAT)) {
    given = yarnTemperature(factor, 0.7);
    notes.push(
      "TeleChat3's factor is 1 + 0.07 ln factor (vLLM 0.33, transformers_utils/config.py); mlx-lm" +
        ` 0.32.2 takes YaRN's, ${general(yarnTemperature(factor), 10)}.`,
    );
  } else if (mscale && everywhere) {
    given = yarnTemperature(factor, mscale) / yarnTemperature(factor, everywhere);
    notes.push(
      "A program that does not read mscale uses a different attention factor, as vLLM did before it" +
        " read mscale (issue 48621).",
    );
  } else {
    given = yarnTemperature(factor);
    if (mscale || everywhere) {
      notes.push(
        "One of mscale and mscale_all_dim is missing, or 0, so transformers ignores both." +
          " DeepSeek's code takes 1 for the first and 0 for the second.",
      );
    }
  }
  let softmax = 1;
  if (head.latent && everywhere) {
    softmax = yarnTemperature(factor, everywhere) ** 2;
    notes.push(
      "All scores are scaled too, by the square of the temperature with mscale_all_dim. Without" +
        " this scaling, positions after the first are wrong (onnxruntime/mobius, PR 548).",
    );
  }
  entries.flag("finetuned", false); // of no effect
  if (entries.number("llama_4_scaling_beta", { least: 0 }) !== null) {
    notes.push("Besides being rotated, queries are also scaled, depending on their position.");
  }
  return [given, softmax];
}

function readLongrope(reading, entries, head, { length }) {
  const original = originalOf(reading, entries, length);
  const trained = needed(reading, original ?? length, "longrope", 2);
  noteMissing(reading, original, trained);
  const factor =
    entries.number("factor", { least: 1 }) ??
    Math.max(Number(needed(reading, length, "longrope")) / Number(trained), 1);
  const pairs = Number(head.rotaryD / 2n);
  const read = (key) => [entries.path(key), entries.number(key, ABOVE_ZERO)];
  const scales = ["short_mscale", "long_mscale"].map(read);
  const given = agreed([read("attention_factor"), ...scales]);
  reading.notes.push(
    `Up to ${trained} positions the short divisors apply, beyond them the long ones, to all` +
      " tokens of a sequence. mlx-lm 0.32.2 never uses the short ones; vLLM goes by the longest sequence" +
      " it is set up for (PR 27431).",
  );
  return {
    factor,
    trainedLength: trained,
    length: length ?? rounded(factor * Number(trained)),
    attentionFactor: given ?? longropeTemperature(factor, trained),
    settings: {
      short: entries.numbers("short_factor", pairs),
      long: entries.numbers("long_factor", pairs),
    },
  };
}

function readProportional(reading, entries, head) {
  const turning = 2n * BigInt(Math.floor((head.share * Number(head.d)) / 2));
  if (turning < 2) {
    throw new Refusal(
      `${entries.path(SHARE)} must leave a pair to rotate; got ${general(head.share)} of ${head.d}`,
    );
  }
  const factor = entries.number("factor", { least: 1 }) ?? 1;
  return { factor, settings: { rotary_d: turning } };
}

const READERS = {
  default: readDefault,
  linear: readLinear,
  dynamic: readDynamic,
  ntk: readNtk,
  "ntk-steps": readSteps,
  axial: readAxial,
  "fixed-ntk": readFixedNtk,
  yarn: readYarn,
  longrope: readLongrope,
  llama3: readLlama3,
  proportional: readProportional,
};
