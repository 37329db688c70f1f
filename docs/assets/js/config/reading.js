// posenc/config/reading.py: a configuration, read from its first key to the last.

import { axes, isDiffusion } from "./diffusion.js";
import { Entries, agreed, listed } from "./entries.js";
import { defaultsOf, layoutOf } from "./families.js";
import { headOf } from "./head.js";
import { refuseStrangers } from "./keys.js";
import { chosenLayers, completed, layersOf, refuseAxes, refuseOthers, textOf } from "./layers.js";
import { Refusal, shown } from "./python.js";
import { PLAIN, promisedLength, ruleOf } from "./rule.js";
import { usual } from "./spellings.js";
import { stackOf, windowOf } from "./stack.js";
import { families, keys, reading as texts, rule as rules } from "./tables.js";

const { BASE, META, META_RULE, ORIGINAL, PAIRING, SAME, UNROTATED, WIDTH } = families;
const { LENGTHS, NONE, PARAMS, RULES, SCALED, SECTIONS, TRADITIONAL, TRAINED } = keys;

/** What a configuration says about one type of layers. `place` is where the settings stand, to say
    how to change them, and how many positions back these layers attend, if not to all. */
export function read(config, layerType, trainedLength = null) {
  const notes = [];
  let part = usual(textOf(translated(new Entries(config), notes), notes), notes);
  let isGiven = part.has(ORIGINAL) || part.has(TRAINED);
  if (trainedLength !== null) {
    const given = [part.path(ORIGINAL), part.integer(ORIGINAL, { least: 2 })];
    agreed([given, ["trained_length", trainedLength]]);
    part = new Entries(new Map([...part.mapping, [ORIGINAL, trainedLength]]), part.place);
  }
  const named = part.text("model_type");
  const kind = SAME.get(named) ?? named;
  const defaults = defaultsOf(kind);
  const known = defaults !== null;
  const given = { entries: part, kind, defaults: defaults ?? new Map(), known, notes };
  refuseAxes(given);
  if (!UNROTATED.includes(kind)) refuseStrangers(part);
  refuseOthers(given);
  const reading = completed(given);
  const { entries } = reading;
  if (entries.flag("rotary_value", false)) notes.push("Values are rotated too.");
  noteUnknown(reading);
  const layers = layersOf(reading);
  const chosen = chosenLayers(reading, layers, layerType);
  const section = layers.get(chosen);
  const head = headOf(reading, section, chosen);
  const rule = section === null ? standing(entries) : ruleOf(reading, section, head);
  if (section !== null && ![null, rule.trainedLength].includes(trainedLength)) {
    throw new Refusal(
      `trained_length must be left out with rope_type "${rule.scheme}", which goes by` +
        ` ${LENGTHS[0]}; got ${trainedLength}`,
    );
  }
  isGiven ||= section?.entries.has(ORIGINAL);
  if (trainedLength !== null && RULES.get(rule.scheme)?.has(ORIGINAL) && !isGiven) {
    notes.push(
      `${rules.UNGIVEN}. This answer holds only once it is set to ${trainedLength}: without it,` +
        ` transformers uses ${LENGTHS[0]}.`,
    );
  }
  return {
    rule,
    head,
    layout: layoutIn(reading, head),
    sections: sectionsOf(section, head, notes),
    interleavedSections: section !== null && section.entries.flag("mrope_interleaved", false),
    layerType: chosen ?? layerType,
    stack: stackOf(reading, layers, chosen, layerType),
    layerTypes: [...layers.keys()].filter((name) => name !== null),
    notes,
    place: {
      entries,
      section: section === null ? new Entries(new Map()) : section.entries,
      window: windowOf(reading, chosen ?? layerType),
      layers,
      kind,
      assumed: rule.assumed ?? false,
    },
  };
}

/** The rule of layers that do not rotate. */
function standing(entries) {
  const length = promisedLength(entries);
  return { ...PLAIN, scheme: NONE, trainedLength: length, length };
}

/** The keys of diffusers, or of params.json as Meta publishes it, as those of config.json. */
function translated(entries, notes) {
  if (isDiffusion(entries)) return new Entries(axes(entries, notes), entries.place);
  const isParams = PARAMS.every((key) => entries.has(key)) && !entries.has("model_type");
  if (!isParams || (entries.has(WIDTH) && !entries.has(BASE))) return entries; // Mistral's
  notes.push(
    "The keys are those of a params.json, as Meta and Mistral publish it; Meta's code is followed.",
  );
  const rule = entries.flag(SCALED, false) ? [["rope_scaling", META_RULE]] : [];
  const rest = [...entries.mapping].filter(([key]) => key !== SCALED);
  return new Entries(new Map([...rest, ...rule, ["model_type", META]]), entries.place);
}

/** Note that nothing is known of a model type. */
function noteUnknown({ entries, known, notes }) {
  if (known) return;
  const kind = entries.text("model_type");
  const named = `Model type ${shown(kind).replace(/ \(str\)$/, "")} is not known`;
  notes.push(`${kind === null ? "No model type is given" : named}: ${texts.UNKNOWN}`);
}

/** Which dimensions of the published weights form a pair, if that is known. */
function layoutIn({ entries, kind, notes }, head) {
  const interleaved = (key) => (entries.flag(key, false) ? "interleaved" : "half");
  if (entries.has("rotary_emb_interleaved")) return interleaved("rotary_emb_interleaved");
  if (PAIRING.has(kind) && !entries.flag(PAIRING.get(kind), true)) return "half";
  let layout = layoutOf(kind, entries.flag("rope_interleave", true));
  for (const key of entries.given(["rope_interleave", "rope_interleaved"])) {
    layout = agreed([
      [entries.path(key), interleaved(key)],
      ["the layout", layout],
    ]);
  }
  if (entries.has(TRADITIONAL)) {
    const given = interleaved(TRADITIONAL);
    if (given !== layout) {
      notes.push(
        `Only mlx-lm reads ${TRADITIONAL}, and takes the layout "${given}" from it.`,
      );
    }
  }
  if (layout === null && head.latent) {
    notes.push("The layout depends on the model type, which is not known here.");
  }
  if (kind === "llama") {
    notes.push(
      'Weights for transformers have the layout "half". Weights as Meta publishes them are' +
        ' "interleaved".',
    );
  }
  return layout;
}

/** How many pairs each axis of positions rotates, which must add up. */
function sectionsOf(section, head, notes) {
  if (section === null) return null;
  const { entries } = section;
  const given = agreed(SECTIONS.map((key) => [entries.path(key), entries.mapping.get(key)]));
  if (given === null) {
    const path = entries.path("mrope_section");
    const isAsking = ["type", "rope_type"].map((key) => entries.text(key)).includes("mrope");
    if (isAsking || entries.has("mrope_interleaved")) {
      const asking = isAsking ? 'type "mrope"' : "mrope_interleaved";
      throw new Refusal(`${path} must be given with ${asking}; got none`);
    }
    return null;
  }
  const path = entries.path(entries.given(SECTIONS)[0]);
  if (!Array.isArray(given)) {
    throw new Refusal(`${path} must be a list of integers; got ${shown(given)}`);
  }
  const each = listed(given, `${path}.`);
  const sections = given.map((_, n) => each.integer(String(n), { least: 0 }) ?? 0n);
  const [sum, pairs] = [sections.reduce((a, b) => a + b, 0n), head.rotaryD / 2n];
  if (sum !== pairs) {
    const said = `${sections.join(" + ")} = ${sum}`;
    throw new Refusal(`${path} must add up to the ${pairs} pairs that rotate; got ${said}`);
  }
  notes.push(
    "Each axis of positions rotates its own pairs. Contiguous and interleaved sections, which" +
      " mrope_interleaved tells apart, are often taken for one another (MNN, PR 4133).",
  );
  return sections;
}
