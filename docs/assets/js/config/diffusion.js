// posenc/config/diffusion.py: the axes of a diffusion transformer, whose configuration diffusers writes.

import { Refusal, isInteger, isMissing, shown } from "./python.js";
import { diffusion, families } from "./tables.js";

const { CLASS, DIVIDED, EIGHTHS, HEAD, KIND, LISTED, LTX, LTX_BASE, PAGE, REASONS } = diffusion;
const { BASE, WIDTH } = families;
export const { PART_WIDTHS } = diffusion;

/** Whether a configuration is one of diffusers. */
export const isDiffusion = (entries) => entries.has(CLASS) && !entries.has("model_type");

/** The axes of a diffusion transformer under keys that are read. */
export function axes(entries, notes) {
  const [widths, base] = widthsOf(entries, entries.text(CLASS) ?? "");
  notes.push(
    "A diffusion transformer: each axis of an image or a video has the frequencies of a head as wide" +
      ` as the part that the axis rotates, ${widths.join(" + ")}.`,
  );
  return new Map([
    ["model_type", KIND],
    [WIDTH, sum(widths)],
    [PART_WIDTHS, widths],
    ["num_hidden_layers", entries.integer("num_layers")],
    ["rope_scaling", new Map([["mrope_section", widths.map((one) => one / 2n)], [BASE, base]])],
  ]);
}

export const sum = (widths) => widths.reduce((all, one) => all + one, 0n);

/** How wide the part of each axis is, and the base. */
function widthsOf(entries, name) {
  if (DIVIDED.has(name)) return [divided(entries, name), 1e4];
  if (!LISTED.has(name)) {
    const why = REASONS.get(entries.has(LTX_BASE) ? LTX : name) ?? diffusion.UNKNOWN_CLASS;
    throw new Refusal(
      `${entries.path(CLASS)} must be a diffusion transformer whose axes are read; got` +
        ` ${shown(name)}, which ${why}: see ${PAGE}`,
    );
  }
  const [key, widths, baseKey, base] = LISTED.get(name);
  const listed = entries.mapping.get(key);
  const given = isMissing(listed) ? widths : checkedWidths(entries, key, listed);
  const [total, width] = [sum(given), entries.integer(HEAD)];
  if (width !== null && width !== total) {
    throw new Refusal(`${entries.path(key)} must add up to ${HEAD}, ${width}; got ${total}`);
  }
  const own = baseKey === null ? null : entries.number(baseKey, { least: 1, above: true });
  return [given, own ?? base];
}

/** A list of even widths, as many as there are axes. */
export function checkedWidths(entries, key, listed) {
  const path = entries.path(key);
  if (!Array.isArray(listed) || !listed.length) {
    throw new Refusal(`${path} must be a list of integers; got ${shown(listed)}`);
  }
  const wrong = listed.find((width) => !isInteger(width) || width < 2n || width % 2n);
  if (wrong !== undefined) {
    throw new Refusal(`${path} must have even integers, 2 or more; got ${shown(wrong)}`);
  }
  return listed;
}

/** The widths of time, height and width where the class divides the head. */
function divided(entries, name) {
  const width = entries.integer(HEAD) ?? DIVIDED.get(name);
  const isEighths = name === EIGHTHS;
  if (isEighths && !entries.flag("use_rotary_positional_embeddings", false)) {
    throw new Refusal(
      `use_rotary_positional_embeddings must be true with ${name}; got false: it adds sinusoids and` +
        " does not rotate",
    );
  }
  const of = isEighths ? 16n : 2n;
  if (width % of) throw new Refusal(`${entries.path(HEAD)} must be a multiple of ${of}; got ${width}`);
  const side = isEighths ? (width / 8n) * 3n : 2n * (width / 6n);
  return [width - 2n * side, side, side];
}
