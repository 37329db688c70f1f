// posenc/config/layers.py: which part of a configuration is about which layers. Layers that are
// all alike have the name null, and layers that do not rotate the section null.

import { Entries, agreed, listed } from "./entries.js";
import { refuseStrangers, typeOf } from "./keys.js";
import { alike } from "./nearest.js";
import { Refusal, equals, general, isMissing, isObject, isTruthy, shown } from "./python.js";
import { families, keys, layers as words } from "./tables.js";

const { ALIBI, ASKING, AXES, AXIAL, BACKWARD, BASE, BY_LAYER, LABELS, LOCAL } = families;
const { OTHERS, PARAMETERS } = families;
const { RESCALING, ROTATING_WIDTHS, SAME, SCALED_WINDOWS } = families;
const { SWITCHED, UNROTATED, UNSCALED_WINDOWS, WINDOW, WINDOWS } = families;
const { GAPPED, NO_ROPE, ROPE, WINDOWED } = words;
const { ATTENTION, COMPRESSED, COUNTS, FLAGS, GAPS, HIDDEN, INTERVAL, LOCALS } = keys;
const { RESCALED, ROTARY, SCHEMES, TEXTS, THETAS, THINKER } = keys;
const ABOVE_ONE = { least: 1, above: true };

/** The settings of one type of layers; `apart` if they have a base of their own, `baseGiven` if that
    is in the file. */
const section = (entries, apart = false, baseGiven = true) => ({ entries, apart, baseGiven });

/** A configuration with the rule that its model type has where none is given. */
export function completed(reading) {
  const { entries, notes } = reading;
  const given = PARAMETERS.get(reading.kind);
  const isScaled = entries.within("rope_scaling").mapping.size > 0 && !isByType(given ?? new Map());
  if (!given || entries.within("rope_parameters").mapping.size || isScaled) return reading;
  notes.push(
    "rope_parameters is not given. transformers has a default rule for this model type.",
  );
  const mapping = new Map([...entries.mapping, ["rope_parameters", given]]);
  return { ...reading, entries: new Entries(mapping, entries.place), completed: true };
}

/** Whether there is one rule for each type of layers, rather than one for all. */
const isByType = (parameters) => [...parameters.values()].some(isObject);

/** The part of a configuration about text, which may be the whole. */
export function textOf(whole, notes) {
  let entries = whole;
  if (entries.has(THINKER)) {
    refuseStrangers(entries);
    entries = entries.within(THINKER);
  }
  const [first, second] = entries.given(TEXTS);
  if (first === undefined) return entries;
  refuseStrangers(entries);
  if (second !== undefined) {
    const value = shown(entries.mapping.get(second));
    throw new Refusal(
      `${entries.path(second)} must not be given together with ${first}; got ${value}`,
    );
  }
  const part = entries.within(first);
  for (const key of entries.given(ROTARY)) {
    const value = entries.mapping.get(key);
    if (!part.has(key)) {
      throw new Refusal(
        `${entries.path(key)} must be in ${first}, which is what is read; got ${shown(value)} outside of it`,
      );
    }
    agreed([
      [entries.path(key), value],
      [part.path(key), part.mapping.get(key)],
    ]);
  }
  notes.push(`Only the part about text, ${part.place.replace(/\.+$/, "")}, is read.`);
  const outer = entries.text("model_type");
  if (part.has("model_type") || !SAME.has(outer)) return part;
  return new Entries(new Map([...part.mapping, ["model_type", SAME.get(outer)]]), part.place);
}

/** Refuse a model that does not rotate queries and keys. */
export function refuseOthers(reading) {
  const { entries, kind, known, notes } = reading;
  if (isUnrotated(reading)) return;
  const other = otherScheme(reading);
  if (other !== undefined) {
    throw new Refusal(
      "config must have a model type that rotates queries and keys; got model type" +
        ` ${shown(kind)}, which uses ${other}: it has no frequencies to scale`,
    );
  }
  for (const [key, wanted] of FLAGS) {
    if (entries.flag(key, wanted) === wanted) continue;
    throw new Refusal(
      `${entries.path(key)} must be ${wanted} in a model with rotary positions;` +
        ` got ${shown(entries.mapping.get(key))}`,
    );
  }
  const schemeKey = entries.given(SCHEMES)[0] ?? SCHEMES[0];
  const scheme = entries.text(schemeKey);
  const asks = ASKING.includes(kind);
  const allowed = asks ? words.ROTATING : [null, ...words.WRITTEN];
  if (!allowed.includes(scheme) && (asks || !known)) {
    throw new Refusal(
      `${entries.path(schemeKey)} must be "rope" or "rotary" in a model with` +
        ` rotary positions; got ${scheme === null ? "none" : shown(scheme)}`,
    );
  }
  if (!allowed.includes(scheme)) {
    const said = shown(scheme).replace(/ \(str\)$/, "");
    notes.push(
      `${schemeKey} is ${said}. transformers does not read it for this model type, which` +
        " rotates.",
    );
  }
  const width = ROTATING_WIDTHS.get(kind) ?? null;
  const hidden = width && entries.integer(HIDDEN[0]);
  if (hidden !== width) {
    throw new Refusal(
      `${entries.path(HIDDEN[0])} must be ${width}, as in the model of type ${shown(kind)} that` +
        ` rotates, not one with ALiBi; got ${hidden === null ? "none" : hidden}`,
    );
  }
  if (!known && !entries.given(ROTARY).length) {
    const type = entries.mapping.get("model_type") ?? null;
    throw new Refusal(
      "config must have a model type that is known to rotate, or a key such as rope_theta; got" +
        ` ${type === null ? "no model type" : `model type ${shown(type)}`}, and no such key`,
    );
  }
}

/** Which positions a model has that does not rotate, if that is certain. */
function otherScheme({ entries, kind }) {
  const attention = entries.mapping.get(ATTENTION);
  const ofAttention = isObject(attention) && attention.get("alibi") === true;
  if ((kind === "mpt" && ofAttention) || (kind === "falcon" && entries.flag("alibi", false))) {
    return ALIBI;
  }
  const named = SCHEMES.map((key) => entries.text(key)); // all are read, since any may be an error
  const isPlain = named.every((one) => [null, "absolute"].includes(one));
  if (!isPlain || entries.given(ROTARY).length) return undefined;
  return [...OTHERS].find(([, kinds]) => kinds.includes(kind))?.[0];
}

/** Whether the model type has no rotation, or a key that switches it off. */
function isUnrotated({ entries, kind }) {
  const isOff = SWITCHED.has(kind) && !entries.flag(SWITCHED.get(kind), false);
  return isOff || UNROTATED.includes(kind);
}

/** Refuse positions with several axes, as in images. */
export function refuseAxes({ entries, kind }) {
  let axes = AXES.get(kind);
  const rule = entries.mapping.get("rope_parameters");
  if (axes === undefined && isObject(rule)) {
    if (rule.get("rope_type") === AXIAL || rule.get("type") === AXIAL) axes = "height and width";
  }
  if (axes === undefined) return;
  throw new Refusal(
    `${entries.path("model_type")} must be of a model that rotates by one axis of positions;` +
      ` got ${shown(entries.mapping.get("model_type"))}, which rotates by ${axes}`,
  );
}

/** The settings by type of layers. */
export function layersOf(reading) {
  const { entries, defaults, kind } = reading;
  if (isUnrotated(reading)) {
    noteUnread(reading, [...ROTARY, GAPS, INTERVAL], "Its attention does not rotate.");
    return new Map([[null, null]]);
  }
  const parameters = entries.within("rope_parameters");
  if (isByType(parameters.mapping)) return nested(reading, parameters);
  if (parameters.all().length && (defaults.has(LOCAL) || UNSCALED_WINDOWS.includes(kind))) {
    throw new Refusal(
      `${entries.path("rope_parameters")} must have one rule for each type of layers with model` +
        ` type ${shown(kind)}; got ${shown(parameters.mapping)}`,
    );
  }
  const main = section(merged(entries));
  if (LABELS.has(kind)) return compressed(reading, main);
  const named = namedLayers(reading);
  if (named.length) return namedSections(reading, main, named);
  if (BACKWARD.includes(kind)) return namedSections(reading, main, [ROPE, NO_ROPE]);
  const local = localBase(reading);
  if (local !== null || defaults.has(LOCAL)) {
    const rule = SCALED_WINDOWS.includes(kind) ? main.entries : new Entries(new Map());
    const own = new Map([...rule.mapping, [BASE, local ?? defaults.get(LOCAL)]]);
    return byWindow(main, section(new Entries(own, rule.place), true, local !== null));
  }
  if (UNSCALED_WINDOWS.includes(kind)) {
    const own = main.entries.mapping;
    const plain = new Map(main.entries.has(BASE) ? [[BASE, own.get(BASE)]] : []);
    return byWindow(main, section(new Entries(plain)));
  }
  const hasWindow = entries.has(WINDOW) || (!entries.mapping.has(WINDOW) && WINDOWS.has(kind));
  if (WINDOWED.includes(kind) && hasWindow) return byWindow(null, main);
  if (!hasGaps(reading)) return new Map([[null, main]]);
  return new Map([
    [ROPE, main],
    [NO_ROPE, null],
  ]);
}

/** The name of each layer's settings where a key tells layers apart, else nothing. */
export function namedLayers(reading) {
  const { kind, known } = reading;
  const isBackward = BACKWARD.includes(kind);
  if (known && !isBackward && !BY_LAYER.includes(kind)) {
    noteUnread(reading, [THETAS], "All its layers that rotate have one base.");
  }
  if (known && !RESCALING.includes(kind)) {
    noteUnread(reading, [RESCALED], "A rule applies to all its layers.");
  }
  const count = layerCount(reading);
  if (RESCALING.includes(kind)) return rescaledLayers(reading, count);
  const thetas = listedThetas(reading);
  if (isBackward) {
    if (thetas.length) return thetas.map((theta) => (theta ? ROPE : NO_ROPE));
    const all = [...Array(Number(count ?? 0)).keys()].reverse();
    return all.map((back) => (back % 4 ? ROPE : NO_ROPE));
  }
  const several = new Set(thetas.filter((theta) => theta)).size > 1;
  const nameOf = (theta) => (several ? `${BASE} ${general(theta, 15)}` : ROPE);
  return thetas.map((theta) => (theta ? nameOf(theta) : NO_ROPE));
}

/** Which layers a rule is for, by `rope_scaling_layers`; nothing if it is for all. */
function rescaledLayers({ entries }, count) {
  const listed = entries.mapping.get(RESCALED);
  if (isMissing(listed) || count === null) return [];
  const isLayer = (one) => typeof one === "bigint" && one >= 0n && one < count;
  if (!Array.isArray(listed) || !listed.every(isLayer)) {
    const allowed = `a list of layers, from 0 to ${count - 1n}`;
    throw new Refusal(`${entries.path(RESCALED)} must be ${allowed}; got ${shown(listed)}`);
  }
  const scaled = new Set(listed.map(Number));
  const all = [...Array(Number(count)).keys()];
  return all.map((number) => (scaled.has(number) ? "scaled" : "unscaled"));
}

/** The base of each layer, 0 where it does not rotate; nothing if none is listed. */
function listedThetas(reading) {
  const { entries, kind, known } = reading;
  const given = entries.mapping.get(THETAS);
  if (isMissing(given) || (known && ![...BY_LAYER, ...BACKWARD].includes(kind))) return [];
  const path = entries.path(THETAS);
  if (!Array.isArray(given)) {
    throw new Refusal(`${path} must be a list of numbers; got ${shown(given)}`);
  }
  checkCount(reading, path, given);
  const each = listed(given, `${path}.`);
  const thetas = given.map((_, n) => each.requiredNumber(String(n), { least: 0 }));
  for (const [n, theta] of thetas.entries()) {
    if (theta <= 0 || theta > 1) continue;
    throw new Refusal(`${path}.${n} must be 0 or a number above 1; got ${general(theta)}`);
  }
  return thetas;
}

/** The settings by the names that layers have. */
function namedSections(reading, main, named) {
  const thetas = BACKWARD.includes(reading.kind) ? [] : listedThetas(reading);
  const bases = new Map(thetas.map((theta, n) => [named[n], theta]));
  const { mapping, place } = main.entries;
  const sectionOf = (name) => {
    if (name === NO_ROPE) return null;
    if (bases.has(name)) {
      return section(new Entries(new Map([...mapping, [BASE, bases.get(name)]]), place), true);
    }
    const plain = main.entries.has(BASE) ? [[BASE, mapping.get(BASE)]] : [];
    return name === "unscaled" ? section(new Entries(new Map(plain))) : main;
  };
  const names = [...new Set(named)];
  const ordered = [
    ...names.filter((name) => name !== NO_ROPE),
    ...names.filter((name) => name === NO_ROPE),
  ];
  if (ordered.length === 1) return new Map([[null, sectionOf(ordered[0])]]);
  return new Map(ordered.map((name) => [name, sectionOf(name)]));
}

const byWindow = (full, sliding) =>
  new Map([
    ["full_attention", full],
    ["sliding_attention", sliding],
  ]);

/** Note which keys are given to a model type that does not read them. */
function noteUnread({ entries, notes }, unread, why) {
  const given = entries.given(unread);
  const kind = shown(entries.mapping.get("model_type")).replace(/ \(str\)$/, "");
  const verb = given.length > 1 ? "have" : "has";
  const said = `${why} So ${given.join(", ")} ${verb} no effect with model type ${kind}.`;
  if (given.length && !notes.includes(said)) notes.push(said);
}

/** The base of layers with a window, if the model type reads one. */
function localBase(reading) {
  const { entries, defaults, known } = reading;
  if (known && !defaults.has(LOCAL)) {
    noteUnread(reading, LOCALS, "All its layers that rotate have one base.");
    return null;
  }
  return agreed(LOCALS.map((key) => [key, entries.number(key, ABOVE_ONE)]));
}

/** The settings of DeepSeek-V4, whose layers that compress have the rule and a base. */
function compressed({ entries, defaults }, main) {
  const { mapping, place } = main.entries;
  const base = entries.number(COMPRESSED, ABOVE_ONE);
  const rule = new Map([...mapping, [BASE, base ?? defaults.get(COMPRESSED)]]);
  if (typeOf(main.entries) === "yarn" && !rule.has("attention_factor")) {
    rule.set("attention_factor", 1);
  }
  const plain = new Map([[BASE, entries.number(BASE, ABOVE_ONE) ?? defaults.get(BASE)]]);
  return new Map([
    ["main", section(new Entries(plain, place), true, entries.has(BASE))],
    ["compress", section(new Entries(rule, place), true, base !== null)],
  ]);
}

/** The settings by type of layers in the new spelling. */
function nested(reading, parameters) {
  const { entries } = reading;
  const given = (key) => shown(entries.mapping.get(key));
  if (entries.within("rope_scaling").mapping.size) {
    throw new Refusal(
      `${entries.path("rope_scaling")} must not be given together with rope_parameters with one rule` +
        ` for each type of layers; got ${given("rope_scaling")}`,
    );
  }
  const names = [...parameters.mapping.keys()];
  const labels = LABELS.get(reading.kind) ?? new Map();
  const listed = new Set(listedTypes(reading).map((one) => labels.get(one) ?? one));
  for (const name of listed.size ? names : []) {
    if (listed.has(name) || [...labels.values()].includes(name)) continue;
    refuseSlips(reading, parameters, name, [...listed]);
    throw new Refusal(
      `${parameters.path(name)} must be about a type in ${entries.path("layer_types")};` +
        ` got ${shown(name)}`,
    );
  }
  const [local] = entries.given(LOCALS);
  if (local !== undefined && localBase(reading) && !parameters.has("sliding_attention")) {
    throw new Refusal(
      `${entries.path(local)} must have a rope_parameters.sliding_attention to apply to; got` +
        ` ${given(local)}`,
    );
  }
  const sections = names.map((name) => [name, nestedSection(reading, parameters, name)]);
  if (!labels.size) return new Map(sections);
  return new Map(sections.map(([name, one]) => [name, one && { ...one, apart: true }]));
}

/** Refuse a listed type that is a slip for one with parameters. */
function refuseSlips({ entries }, parameters, name, listed) {
  const slip = listed.find((one) => !words.TYPES.includes(one) && alike(one, name, 2));
  if (slip === undefined) return;
  const allowed = inMarks([...parameters.mapping.keys()]).join(", ");
  const place = parameters.place.replace(/\.+$/, "");
  throw new Refusal(
    `${entries.path("layer_types")} must have types such as those in ${place}, ${allowed};` +
      ` got ${shown(slip)}`,
  );
}

/** The settings of one type of layers; a local base outside is that of windows. */
function nestedSection(reading, parameters, name) {
  const { entries, defaults } = reading;
  if (!parameters.has(name)) return null;
  const own = parameters.within(name);
  if (name !== "sliding_attention") return section(own);
  const outer = localBase(reading) ? LOCALS : [];
  const places = [[own, BASE], ...outer.map((key) => [entries, key])];
  const given = agreed(places.map(([one, key]) => [one.path(key), one.number(key, ABOVE_ONE)]));
  const local = given ?? defaults.get(LOCAL) ?? null;
  if (local === null) return section(own);
  const found = new Entries(new Map([...own.mapping, [BASE, local]]), own.place);
  return section(found, true, given !== null);
}

/** The entries of `rope_scaling` and `rope_parameters`, which must agree. */
function merged(entries) {
  const [old, now] = [entries.within("rope_scaling"), entries.within("rope_parameters")];
  for (const [key, value] of old.mapping) {
    if (!now.mapping.has(key) || ["rope_type", "type"].includes(key)) continue;
    agreed([
      [old.path(key), value],
      [now.path(key), now.mapping.get(key)],
    ]);
  }
  if (old.mapping.size && now.mapping.size) {
    agreed([old, now].map((one) => [`${one.place}rope_type`, typeOf(one)]));
  }
  const { place } = old.mapping.size ? old : now;
  return new Entries(new Map([...now.mapping, ...old.mapping]), place);
}

/** Whether layers are counted that do not rotate. */
function hasGaps(reading) {
  const { known, kind } = reading;
  if (known && !GAPPED.includes(kind)) {
    noteUnread(reading, [GAPS, INTERVAL], "All its layers with attention rotate.");
    return false;
  }
  const layers = listedGaps(reading);
  return layers.length ? layers.some((one) => equals(one, 0)) : GAPPED.includes(kind);
}

/** 1 for each layer that rotates and 0 for others, none if that is not listed. */
export function listedGaps(reading) {
  const { entries } = reading;
  const given = entries.mapping.get(GAPS);
  const layers = isTruthy(given) ? given : [];
  const path = entries.path(GAPS);
  const isBit = (one) => equals(one, 0) || equals(one, 1);
  if (!Array.isArray(layers) || !layers.every(isBit)) {
    throw new Refusal(`${path} must be a list of 0 and 1; got ${shown(layers)}`);
  }
  checkCount(reading, path, layers);
  return layers;
}

/** The type of each layer, or none if the configuration does not list them. */
export function listedTypes(reading) {
  const { entries } = reading;
  const given = entries.mapping.get("layer_types");
  const listed = isTruthy(given) ? given : [];
  const path = entries.path("layer_types");
  if (!Array.isArray(listed) || !listed.every((one) => typeof one === "string")) {
    throw new Refusal(`${path} must be a list of strings; got ${shown(listed)}`);
  }
  checkCount(reading, path, listed);
  return listed;
}

/** Refuse a list that has not one entry for each layer. */
function checkCount(reading, path, { length }) {
  const count = layerCount(reading);
  if (!length || count === null || count === BigInt(length)) return;
  throw new Refusal(`${path} must have one entry for each of ${count} layers; got ${length}`);
}

/** How many layers the model has, or null if that is not said. */
export function layerCount({ entries }) {
  const count = agreed(COUNTS.map((key) => [entries.path(key), entries.integer(key)]));
  if (count !== null && count > words.MOST) {
    const path = entries.path(entries.given(COUNTS)[0]);
    throw new Refusal(`${path} must be an integer, at most ${words.MOST}; got ${count}`);
  }
  return count;
}

const inMarks = (names) => names.map((name) => `"${name}"`);

/** The name of the layers that are asked about. */
export function chosenLayers(reading, layers, asked) {
  const alike = layers.has(null);
  const attending = new Set(listedTypes(reading).filter((one) => one.endsWith("attention")));
  attending.delete(words.LINEAR);
  const names = alike ? [...attending].sort() : [...layers.keys()];
  if (asked !== null) {
    if (names.includes(asked)) return alike ? null : asked;
    const allowed = names.length
      ? `one of ${inMarks(names).join(", ")}, or None`
      : "None, as all layers are alike";
    throw new Refusal(`layer_type must be ${allowed}; got ${shown(asked)}`);
  }
  const rotating = [...layers.keys()].filter((name) => layers.get(name) !== null);
  if (!rotating.length) return [...layers.keys()][0];
  const chosen = rotating.includes("full_attention") ? "full_attention" : rotating[0];
  if (layers.size > 1) {
    const others = inMarks([...layers.keys()].filter((name) => name !== chosen)).join(" and ");
    reading.notes.push(`This is about layers of type "${chosen}"; ask for ${others} as well.`);
  }
  return chosen;
}
