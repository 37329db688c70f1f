// posenc/config/stack.py: which layers settings are about, by number, and which have a window.

import { layerCount, listedGaps, listedTypes, namedLayers } from "./layers.js";
import { families, keys, layers as words, stack } from "./tables.js";

const { LABELS, LATER_WINDOWS, MIXED, NARROW, PERIODS, SCALED_WINDOWS, WIDE_WINDOW } = families;
const { WINDOW, WINDOWS } = families;
const { INTERVAL, LAYERS, LOCAL_WINDOW } = keys;
const { FULL, SLIDING, STILL, UNLISTED } = stack;

/** The numbers of the layers that a section is about: rotates, layers, windowed, count, each null if
    it is not known. */
export function stackOf(reading, layers, chosen, asked) {
  const kinds = kindsOf(reading);
  const named = namedLayers(reading);
  const rotates = reading.known ? layers.get(chosen) !== null : null;
  if (named.length && chosen !== null) {
    const meant = [...named.keys()].filter((number) => named[number] === chosen);
    return {
      rotates,
      layers: reading.known ? meant.map(BigInt) : null,
      windowed: withinWindow(reading, kinds, meant),
      count: BigInt(named.length),
    };
  }
  if (kinds === null) return { rotates, layers: null, windowed: null, count: layerCount(reading) };
  const labels = LABELS.get(reading.kind) ?? new Map();
  const gaps = gapsOf(reading, kinds.length);
  const isMeant = (kind, number) => {
    if (chosen === null) return !STILL.includes(kind) && (asked === null || asked === kind);
    if (layers.has(words.NO_ROPE)) return gaps[number] === (chosen === words.ROPE);
    return (labels.get(kind) ?? kind) === chosen;
  };
  const meant = [...kinds.keys()].filter((number) => isMeant(kinds[number], number));
  return {
    rotates,
    layers: reading.known ? meant.map(BigInt) : null,
    windowed: withinWindow(reading, kinds, meant),
    count: BigInt(kinds.length),
  };
}

/** Which of the layers attend in a window, null if their types are not known. */
function withinWindow(reading, kinds, meant) {
  if (kinds === null) return null;
  const hasWindow = windowOf(reading, SLIDING) !== null;
  return meant.filter((number) => hasWindow && kinds[number] === SLIDING).map(BigInt);
}

/** How many positions layers of a type attend to at most, or null if to all. */
export function windowOf({ entries, kind }, layerType) {
  if (layerType === SLIDING && SCALED_WINDOWS.includes(kind)) {
    const half = (entries.integer(LOCAL_WINDOW) ?? WIDE_WINDOW) / 2n;
    // The decoder counts the token itself, the encoder tokens on either side of it.
    return (half || 1n) + BigInt(kind === "modernbert");
  }
  const isEverywhere = NARROW.includes(kind) && !entries.has("layer_types");
  if (layerType !== SLIDING && !isEverywhere) return null;
  if (LATER_WINDOWS.includes(kind) && !entries.flag("use_sliding_window", false)) return null;
  return entries.integer(WINDOW) ?? (entries.mapping.has(WINDOW) ? null : defaultWindow(kind));
}

export const defaultWindow = (kind) => WINDOWS.get(kind) ?? null;

/** The type of each layer: as listed, or by the default of the model type. */
function kindsOf(reading) {
  const { entries, kind, known } = reading;
  const listed = listedTypes(reading);
  const count = layerCount(reading);
  if (listed.length) return listed;
  if (count !== null && UNLISTED.has(kind)) {
    const [first, group] = UNLISTED.get(kind);
    return [...Array(Number(count)).keys()].map((i) => first[i] ?? group[i % group.length]);
  }
  if (count === null || !known || MIXED.includes(kind)) return null;
  const all = [...Array(Number(count)).keys()];
  const period = PERIODS.get(kind) ?? words.RULES.get(kind);
  if (period) {
    const [standard, others, first] = period;
    const [key] = entries.given(words.GAPPED.includes(kind) ? [INTERVAL] : LAYERS);
    const every = Number((key === undefined ? null : entries.integer(key)) ?? standard);
    const place = first ? 0 : every - 1;
    return all.map((i) => (i % every === place ? FULL : others));
  }
  const windowed = Number(firstWindowed(reading, count));
  return all.map((i) => (i >= windowed ? SLIDING : FULL));
}

/** The first layer with a window, where all later ones have one too. */
function firstWindowed(reading, count) {
  const { entries, kind } = reading;
  const hasWindow = windowOf(reading, SLIDING) !== null;
  if (LATER_WINDOWS.includes(kind)) {
    const first = entries.integer("max_window_layers", { least: 0 });
    return hasWindow && first !== null ? first : count;
  }
  return NARROW.includes(kind) && hasWindow ? 0n : count;
}

/** For each layer whether it rotates, in a model that counts layers without rotation. */
function gapsOf(reading, count) {
  const listed = listedGaps(reading);
  if (listed.length) return listed.map((one) => Boolean(Number(one)));
  const given = words.GAPPED.includes(reading.kind) ? reading.entries.integer(INTERVAL) : null;
  return [...Array(count).keys()].map((i) => (i + 1) % Number(given ?? 4) > 0);
}
