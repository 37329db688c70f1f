// posenc/config/layers.py: which part of a configuration is about which layers. Layers that are
// all alike have the name null, and layers that do not rotate the section null.

import { Entries, agreed } from "./entries.js";
import { refuseStrangers, typeOf } from "./keys.js";
import { alike } from "./nearest.js";
import { Refusal, equals, isObject, isTruthy, shown } from "./python.js";
import { families, keys, layers as words } from "./tables.js";

const { ASKING, BASE, LOCAL, PARAMETERS, SCALED_WINDOWS, UNSCALED_WINDOWS } = families;
const { GAPPED, WINDOWED } = words;
const { LOCALS, ROTARY, TEXTS } = keys;
const ABOVE_ONE = { least: 1, above: true };

/** The settings of one type of layers; `apart` if they have a base of their own. */
const section = (entries, apart = false) => ({ entries, apart });

/** A configuration with the rule that its model type has where none is given. */
export function completed(reading) {
  const { entries, notes } = reading;
  const given = PARAMETERS.get(reading.kind);
  const isScaled = entries.within("rope_scaling").mapping.size > 0 && !isByType(given ?? new Map());
  if (!given || entries.within("rope_parameters").mapping.size || isScaled) return reading;
  notes.push(
    "rope_parameters is not given. transformers takes a rule of its own for this model type.",
  );
  const mapping = new Map([...entries.mapping, ["rope_parameters", given]]);
  return { ...reading, entries: new Entries(mapping, entries.place), completed: true };
}

/** Whether there is one rule for each type of layers, rather than one for all. */
const isByType = (parameters) => [...parameters.values()].some(isObject);

/** The part of a configuration about text, which may be the whole. */
export function textOf(entries, notes) {
  const [first, second] = entries.given(TEXTS);
  if (first === undefined) return entries;
  refuseStrangers(entries);
  if (second !== undefined) {
    const value = shown(entries.mapping.get(second));
    throw new Refusal(`${second} must not stand beside ${first}; got ${value}`);
  }
  const part = entries.within(first);
  for (const key of entries.given(ROTARY)) {
    const value = entries.mapping.get(key);
    if (!part.has(key)) {
      throw new Refusal(
        `${key} must be in ${first}, which is what is read; got ${shown(value)} outside of it`,
      );
    }
    agreed([
      [key, value],
      [part.path(key), part.mapping.get(key)],
    ]);
  }
  notes.push(`The part about text, ${first}, is read, and no other.`);
  return part;
}

/** Refuse a model that does not rotate queries and keys. */
export function refuseOthers({ entries, kind, known, notes }) {
  const hasBias = entries.flag("alibi", false);
  if (hasBias || !entries.flag("rotary", true)) {
    const [key, wanted] = hasBias ? ["alibi", "false"] : ["rotary", "true"];
    throw new Refusal(
      `${entries.path(key)} must be ${wanted} in a model with rotary positions;` +
        ` got ${shown(entries.mapping.get(key))}`,
    );
  }
  const scheme = entries.text("position_embedding_type");
  const asks = ASKING.includes(kind);
  const allowed = asks ? words.ROTATING : [null, ...words.WRITTEN];
  if (!allowed.includes(scheme) && (asks || !known)) {
    throw new Refusal(
      `${entries.path("position_embedding_type")} must be "rope" or "rotary" in a model with` +
        ` rotary positions; got ${scheme === null ? "none" : shown(scheme)}`,
    );
  }
  if (!allowed.includes(scheme)) {
    const said = shown(scheme).replace(/ \(str\)$/, "");
    notes.push(
      `position_embedding_type is ${said}. transformers does not read it for this model type, which` +
        " rotates.",
    );
  }
  if (!known && !entries.given(ROTARY).length) {
    throw new Refusal(
      "config must have rotary positions, and a key such as rope_theta; got none, and model type" +
        ` ${shown(entries.mapping.get("model_type"))}`,
    );
  }
}

/** The settings by type of layers. */
export function layersOf(reading) {
  const { entries, defaults, kind } = reading;
  const parameters = entries.within("rope_parameters");
  if (isByType(parameters.mapping)) return nested(reading, parameters);
  if (parameters.all().length && (defaults.has(LOCAL) || UNSCALED_WINDOWS.includes(kind))) {
    throw new Refusal(
      `${entries.path("rope_parameters")} must have one rule for each type of layers with model` +
        ` type ${shown(kind)}; got ${shown(parameters.mapping)}`,
    );
  }
  const main = section(merged(entries));
  const local = agreed(LOCALS.map((key) => [key, entries.number(key, ABOVE_ONE)]));
  if (local !== null || defaults.has(LOCAL)) {
    const rule = SCALED_WINDOWS.includes(kind) ? main.entries : new Entries(new Map());
    const own = new Map([...rule.mapping, [BASE, local ?? defaults.get(LOCAL)]]);
    return byWindow(main, section(new Entries(own, rule.place), true));
  }
  if (UNSCALED_WINDOWS.includes(kind)) {
    const own = main.entries.mapping;
    const plain = new Map(main.entries.has(BASE) ? [[BASE, own.get(BASE)]] : []);
    return byWindow(main, section(new Entries(plain)));
  }
  if (WINDOWED.includes(kind) && entries.has("sliding_window")) return byWindow(null, main);
  if (!hasGaps(reading)) return new Map([[null, main]]);
  return new Map([
    ["rope", main],
    ["no_rope", null],
  ]);
}

const byWindow = (full, sliding) =>
  new Map([
    ["full_attention", full],
    ["sliding_attention", sliding],
  ]);

/** The settings by type of layers in the new spelling. */
function nested(reading, parameters) {
  const { entries } = reading;
  const given = (key) => shown(entries.mapping.get(key));
  if (entries.within("rope_scaling").mapping.size) {
    throw new Refusal(
      `${entries.path("rope_scaling")} must not stand beside rope_parameters with one rule for` +
        ` each type of layers; got ${given("rope_scaling")}`,
    );
  }
  const names = [...parameters.mapping.keys()];
  const listed = new Set(listedTypes(reading));
  for (const name of listed.size ? names : []) {
    if (listed.has(name)) continue;
    refuseSlips(reading, parameters, name, [...listed]);
    throw new Refusal(
      `${parameters.path(name)} must be about a type in ${entries.path("layer_types")};` +
        ` got ${shown(name)}`,
    );
  }
  const [local] = entries.given(LOCALS);
  if (local !== undefined && !parameters.has("sliding_attention")) {
    throw new Refusal(
      `${entries.path(local)} must have a rope_parameters.sliding_attention to hold for;` +
        ` got ${given(local)}`,
    );
  }
  return new Map(names.map((name) => [name, nestedSection(reading, parameters, name)]));
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
function nestedSection({ entries, defaults }, parameters, name) {
  if (!parameters.has(name)) return null;
  const own = parameters.within(name);
  if (name !== "sliding_attention") return section(own);
  const places = [[own, BASE], ...LOCALS.map((key) => [entries, key])];
  const given = agreed(places.map(([one, key]) => [one.path(key), one.number(key, ABOVE_ONE)]));
  const local = given ?? defaults.get(LOCAL) ?? null;
  if (local === null) return section(own);
  return section(new Entries(new Map([...own.mapping, [BASE, local]]), own.place), true);
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
function hasGaps({ entries, kind }) {
  const layers = entries.mapping.get("no_rope_layers");
  if (!isTruthy(layers)) return GAPPED.includes(kind);
  const isBit = (one) => equals(one, 0) || equals(one, 1);
  if (!Array.isArray(layers) || !layers.every(isBit)) {
    const path = entries.path("no_rope_layers");
    throw new Refusal(`${path} must be a list of 0 and 1; got ${shown(layers)}`);
  }
  return layers.some((one) => equals(one, 0));
}

/** The type of each layer, or none if the configuration does not list them. */
function listedTypes({ entries }) {
  const given = entries.mapping.get("layer_types");
  const listed = isTruthy(given) ? given : [];
  if (!Array.isArray(listed) || !listed.every((one) => typeof one === "string")) {
    const path = entries.path("layer_types");
    throw new Refusal(`${path} must be a list of strings; got ${shown(listed)}`);
  }
  return listed;
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
  const chosen = rotating.includes("full_attention") ? "full_attention" : rotating[0];
  if (layers.size > 1) {
    const others = inMarks([...layers.keys()].filter((name) => name !== chosen)).join(" and ");
    reading.notes.push(`This is about layers of type "${chosen}"; ask for ${others} as well.`);
  }
  return chosen;
}
