// posenc/config/families.py: what is known about the model types of transformers.

import { families } from "./tables.js";

const { BASE, CHOOSING, DEFAULTS, HALF, INTERLEAVED, REMOTE, SHARE, UNROTATED } = families;
const KNOWN = new Set([...INTERLEAVED, ...HALF, ...CHOOSING, ...UNROTATED, ...REMOTE.keys()]);

/** The layout of a model type, or null if it is not known. */
export function layoutOf(kind, interleave) {
  if (REMOTE.has(kind)) return REMOTE.get(kind);
  if (INTERLEAVED.includes(kind) || (CHOOSING.includes(kind) && interleave)) return "interleaved";
  return HALF.includes(kind) || CHOOSING.includes(kind) ? "half" : null;
}

/** What keys mean that a configuration leaves out, or null if that is not known. */
export function defaultsOf(kind) {
  if (!KNOWN.has(kind)) return null;
  return new Map([[BASE, 1e4], [SHARE, 1], ...(DEFAULTS.get(kind) ?? [])]);
}
