// posenc/config/head.py: the widths of a head and of what is rotated in it. Widths are integers of
// Python, BigInts here, as they are printed in messages.

import { Entries, agreed } from "./entries.js";
import { typeOf } from "./keys.js";
import { Refusal, general, shown, truncated } from "./python.js";
import { families, head as limits, keys } from "./tables.js";

const { DOUBLED, LATENTS, PARTIAL, REMOTE, RULELESS, SHARE, SIZES, TAILS } = families;
const { UNROTATED, WIDE, WIDTH } = families;
const { HEADS, HIDDEN, LATENT, SHARES, WIDTHS } = keys;

const partOf = (d, share) => truncated(Number(d) * share);

/** The widths of a head and of what is rotated in it: d, rotaryD, share, and latent, whether the
    rotated part is a vector beside the rest of the head. */
export function headOf(reading, section, layerType) {
  const head = readHead(reading, section, layerType);
  const { d, rotaryD } = head;
  if (TAILS.includes(reading.kind) && rotaryD < d) {
    reading.notes.push(
      `The last ${rotaryD} of the ${d} dimensions of a head are rotated, not the first ${rotaryD}.`,
    );
  }
  return head;
}

/** The widths, with notes on those that are not given or not read. */
function readHead(reading, section, layerType) {
  const { entries, defaults, notes } = reading;
  const latent = entries.integer(LATENT[0]);
  const isTail = TAILS.includes(reading.kind);
  if (latent !== null && !isTail) return latentHead(reading, section, latent);
  if (LATENTS.includes(reading.kind)) {
    const path = entries.path(LATENT[0]);
    throw new Refusal(`${path} must be given with model type ${shown(reading.kind)}; got none`);
  }
  const d = widthOf(reading, layerType);
  let share = shareOf(reading, section);
  const name = isTail ? LATENT[0] : "rotary_dim";
  const count = entries.integer(name);
  if (count !== null) return countedHead(entries.path(name), d, count, share);
  if (share === null) {
    share = defaults.get(SHARE) ?? 1;
    if (share !== 1) {
      const taken = `transformers uses ${general(share)} for this model type.`;
      notes.push(`${SHARE} is not given. ${taken}`);
    }
  } else if (share !== 1 && isUnread(reading, section)) {
    notes.push(
      `${SHARE} is ${general(share)}. For this model type transformers reads it only with a` +
        " scaling rule. Without one it rotates the whole head.",
    );
  }
  if (section !== null && typeOf(section.entries) === "proportional") {
    return { d, rotaryD: d, share, latent: false };
  }
  const rotaryD = partOf(d, share);
  if (rotaryD < 2 || rotaryD % 2n) {
    const part = sharesOf(reading, section)[0]?.[0] ?? SHARE;
    throw new Refusal(
      `${part} must leave an even number of dimensions, 2 or more; got ${general(share)} of ${d}`,
    );
  }
  return { d, rotaryD, share, latent: false };
}

/** The widths where the configuration counts the dimensions that are rotated. */
function countedHead(path, d, count, share) {
  if (share !== null && partOf(d, share) !== count) {
    const both = `${count} and ${general(share)} of a width of ${d}`;
    throw new Refusal(`${path} and ${SHARE} must agree; got ${both}`);
  }
  if (count > d || count % 2n) {
    throw new Refusal(`${path} must be an even integer from 2 to ${d}; got ${count}`);
  }
  return { d, rotaryD: count, share: 1, latent: false };
}

/** Whether the class in transformers rotates the whole head whatever the entry says. */
function isUnread({ kind, known, defaults }, section) {
  const isPlain = section === null || typeOf(section.entries) === "default";
  const isOther = [...PARTIAL, ...REMOTE.keys(), ...RULELESS, ...UNROTATED].includes(kind);
  return isPlain && known && !isOther && defaults.get(SHARE) === 1;
}

/** The rotated vector of latent attention, which stands beside the rest of a head. */
function latentHead(reading, section, latent) {
  const { entries, notes } = reading;
  const [rest, whole] = [entries.integer(LATENT[1], { least: 0 }), entries.integer(LATENT[2])];
  const path = entries.path(LATENT[0]);
  checkWidth(path, latent);
  const both = latent + (rest ?? 0n);
  if (rest !== null) {
    agreed([
      [`${path} + ${LATENT[1]}`, both],
      [entries.path(LATENT[2]), whole],
    ]);
  }
  const width = entries.integer(WIDTH);
  const share = shareOf(reading, section);
  if (width !== null && ![latent, rest, both, quotientOf(reading)].some((one) => one == width)) {
    throw new Refusal(`${path} and ${entries.path(WIDTH)} must agree; got ${latent} and ${width}`);
  }
  if (share !== null && share !== 1 && partOf(width ?? both, share) !== latent) {
    throw new Refusal(`${path} and ${SHARE} must agree; got ${latent} and ${general(share)}`);
  }
  const beside = rest === null ? "" : `, ${rest} wide,`;
  notes.push(
    `The rotated part is a separate vector, ${latent} wide; the rest of a head${beside} is not` +
      " rotated.",
  );
  return { d: latent, rotaryD: latent, share: 1, latent: true };
}

/** The width of a head, an even integer. */
function widthOf(reading, layerType) {
  const { entries, defaults, notes } = reading;
  let widths = WIDTHS.map((key) => [entries.path(key), entries.integer(key)]);
  if (layerType === "full_attention" && (entries.has(WIDE) || defaults.has(WIDE))) {
    widths = [[entries.path(WIDE), entries.integer(WIDE) ?? BigInt(defaults.get(WIDE) ?? 0)]];
  }
  let d = agreed(widths);
  const quotient = quotientOf(reading);
  let name = widths.find(([, width]) => width !== null)?.[0] ?? entries.path(WIDTH);
  if (d === null && defaults.has(WIDTH)) {
    d = BigInt(defaults.get(WIDTH));
    notes.push(`${name} is not given. transformers uses ${d} for this model type.`);
  } else if (d === null) {
    [d, name] = [divided(reading), "hidden_size / num_attention_heads"];
  }
  checkWidth(name, d);
  if (quotient !== null && quotient !== Number(d)) {
    notes.push(
      `A head is ${d} wide, not hidden_size / num_attention_heads, ${general(quotient)}. A` +
        " program that divides these two computes different frequencies, as transformers once did" +
        " (PR 32495).",
    );
  }
  return d;
}

/** Refuse a width that what is rotated cannot have. */
function checkWidth(name, d) {
  if (d % 2n) throw new Refusal(`${name} must be an even integer, 2 or more; got ${d}`);
  if (d > limits.WIDEST) throw new Refusal(`${name} must be at most ${limits.WIDEST}; got ${d}`);
}

/** The width of the model divided by the number of heads, if both are given. */
function quotientOf(reading) {
  const [hidden, heads] = givenSizes(reading);
  return hidden === null || heads === null ? null : dividedBy(reading, hidden, heads);
}

/** The width of the model and the number of heads, as they are given. */
function givenSizes({ entries }) {
  const one = (keys) => agreed(keys.map((key) => [entries.path(key), entries.integer(key)]));
  return [one(HIDDEN), one(HEADS)];
}

const dividedBy = ({ kind }, hidden, heads) =>
  ((DOUBLED.includes(kind) ? 2 : 1) * Number(hidden)) / Number(heads);

/** The quotient, with the sizes of the model type where neither is given. */
function completedQuotient(reading) {
  let [hidden, heads] = givenSizes(reading);
  const usual = SIZES.find(([, , kinds]) => kinds.includes(reading.kind));
  if (usual && hidden === null && heads === null) {
    [hidden, heads] = usual;
    reading.notes.push(
      `${HIDDEN[0]} and ${HEADS[0]} are not given. transformers uses ${hidden} and ${heads} for` +
        " this model type.",
    );
  }
  return hidden === null || heads === null ? null : dividedBy(reading, hidden, heads);
}

/** The quotient, which must be an integer. */
function divided(reading) {
  const { entries } = reading;
  const quotient = completedQuotient(reading);
  if (quotient === null) {
    const path = entries.path(WIDTH);
    throw new Refusal(`${path} must be given, or hidden_size and num_attention_heads; got none`);
  }
  if (!Number.isInteger(quotient)) {
    throw new Refusal(
      `${entries.path("hidden_size")} must be a multiple of num_attention_heads where head_dim is` +
        ` not given; got ${general(quotient)} times as much`,
    );
  }
  return BigInt(quotient);
}

/** Which part of a head is rotated, by the name of the entry that says so. */
function sharesOf({ entries }, section) {
  const inner = section ? section.entries : new Entries(new Map());
  const read = (one, key) => [one.path(key), one.number(key, { least: 0, above: true })];
  const found = new Map();
  for (const [one, key] of [...SHARES.map((name) => [entries, name]), [inner, SHARE]]) {
    const [name, share] = read(one, key);
    if (share !== null && share > 1) {
      throw new Refusal(`${name} must be a number above 0, at most 1; got ${general(share)}`);
    }
    if (share !== null) found.set(name, share);
  }
  return [...found];
}

/** Which part of a head is rotated, or null if it is not given. */
const shareOf = (reading, section) => agreed(sharesOf(reading, section));
