// posenc/config/spellings.py: published spellings of some models, put into those of the library.

import { Entries, refuseUnknown } from "./entries.js";
import { Refusal, isMissing, isNumber, isObject, shown } from "./python.js";
import { families, keys, spellings } from "./tables.js";

const { BASE, LATENTS, SHARE } = families;
const { COUNTS, FLAT_RULE, LATENT, MLA } = keys;
const { FULL, GROK, NUMBERED, RULED, SHARES_BY_LAYER } = spellings;

/** The entries with the spelling of the model type put into the usual one. */
export function usual(entries, notes) {
  const kind = entries.text("model_type");
  const made = (mapping) => new Entries(mapping, entries.place);
  if (NUMBERED.has(kind)) return made(numbered(entries, ...NUMBERED.get(kind)));
  if (kind === "internlm") return made(internlm(entries));
  if (["step3p5", "step3p7"].includes(kind)) return made(byLayer(entries));
  if (kind === "cohere_compass_text") return made(withoutDangling(entries));
  if (kind === "git" && isGrok(entries)) return made(grok(entries, notes));
  if (LATENTS.includes(kind) && !entries.flag(MLA, true)) {
    notes.push(
      `${MLA} is false: its attention is that of Llama, and no part of a head is a separate vector.`,
    );
    return made(without(entries, [...LATENT, MLA]).set("model_type", "deepseek"));
  }
  return made(entries.mapping);
}

const without = ({ mapping }, names) =>
  new Map([...mapping].filter(([key]) => !names.includes(key)));

function isGrok({ mapping }) {
  const given = mapping.get("architectures");
  return Array.isArray(given) && given.includes(GROK);
}

/** How many layers are said to be there, by the first key that says so. */
function countOf(entries) {
  const [key] = entries.given(COUNTS);
  return key === undefined ? null : entries.integer(key);
}

/** The keys with `layer_types`; numbers beyond the last layer are of predicted tokens. */
function numbered(entries, key, names) {
  const given = entries.mapping.get(key);
  if (isMissing(given) || entries.has("layer_types")) return entries.mapping;
  const nameOf = (one) => (isNumber(one) ? names.find(([number]) => number == one) : null);
  if (!Array.isArray(given) || !given.every(nameOf)) {
    const allowed = names.map(([number]) => number).join(", ");
    throw new Refusal(`${entries.path(key)} must be a list of ${allowed}; got ${shown(given)}`);
  }
  const types = given.slice(0, Number(countOf(entries) ?? given.length)).map((one) => nameOf(one)[1]);
  return without(entries, [key]).set("layer_types", types);
}

/** The keys with the base and the rule in `rotary`, as the code of InternLM has them. */
function internlm(entries) {
  if (!isObject(entries.mapping.get("rotary"))) return entries.mapping;
  const said = entries.within("rotary");
  refuseUnknown(said, new Set(["base", "type", "scaling_factor"]), "InternLM");
  const kind = said.text("type");
  if (!["origin", "dynamic"].includes(kind)) {
    throw new Refusal(`${said.path("type")} must be "origin" or "dynamic"; got ${shown(kind)}`);
  }
  const found = without(entries, ["rotary"]);
  if (said.has("base")) found.set(BASE, said.mapping.get("base"));
  if (kind === "dynamic") {
    const factor = said.number("scaling_factor", { least: 1 }) ?? 1;
    const rule = [
      ["rope_type", "dynamic"],
      ["factor", factor],
    ];
    found.set("rope_scaling", new Map(rule));
  }
  return found;
}

/** The keys of Step 3.5, with a rule for each type of layers in place of lists. */
function byLayer(entries) {
  const count = countOf(entries);
  if (entries.has("rope_parameters") || count === null) return entries.mapping;
  const types = listed(entries, "layer_types", count) ?? Array(Number(count)).fill(FULL);
  const bases = listed(entries, BASE, count);
  const shares = listed(entries, SHARES_BY_LAYER, count);
  const rules = new Map();
  for (const [number, name] of types.entries()) {
    if (typeof name !== "string" || rules.has(name)) continue;
    const base = bases ? bases[number] : entries.mapping.get(BASE);
    rules.set(name, new Map([["rope_type", "default"]]).set(BASE, isMissing(base) ? 1e4 : base));
    if (shares) rules.get(name).set(SHARE, shares[number]);
  }
  if (rules.has(FULL)) {
    const rule = [...rules.get(FULL), ...entries.within("rope_scaling").mapping];
    rules.set(FULL, new Map(rule));
  }
  const rest = without(entries, [BASE, SHARES_BY_LAYER, "rope_scaling", "layer_types"]);
  return rest.set("layer_types", types).set("rope_parameters", rules);
}

/** A list of one entry for each layer, or more; null if the entry is no list. */
function listed(entries, key, count) {
  const value = entries.mapping.get(key);
  if (!Array.isArray(value)) return null;
  if (value.length < count) {
    throw new Refusal(
      `${entries.path(key)} must have one entry for each of ${count} layers; got ${value.length}`,
    );
  }
  return value.slice(0, Number(count));
}

/** The keys without a base and a rule for all beside those for each type of layers. */
function withoutDangling(entries) {
  const rules = entries.within("rope_parameters");
  if (![...rules.mapping.values()].some(isObject)) return entries.mapping;
  return new Map([...entries.mapping, ["rope_parameters", without(rules, RULED)]]);
}

/** The keys of Grok-2 without those of a rule that its type leaves without effect. */
function grok(entries, notes) {
  const kind = entries.text("rope_type");
  if (![null, "original"].includes(kind)) {
    throw new Refusal(`${entries.path("rope_type")} must be "original"; got ${shown(kind)}`);
  }
  const given = entries.given(FLAT_RULE).join(", ");
  if (given) notes.push(`rope_type is "original": ${given} have no effect (SGLang, grok.py).`);
  return without(entries, ["rope_type", ...FLAT_RULE]).set("model_type", "grok");
}
