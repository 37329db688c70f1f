// A small GPT, to be read from top to bottom: posenc/nn/gpt.py without batches, training or a cache.
//
// A text of T bytes becomes T rows of `width` numbers, one row after the other in an array. Three
// layers each add to every row twice: attention adds what it finds in earlier rows, and an MLP what it
// makes of the row alone. The last lines compare each row with that of every byte: the better a byte
// fits, the more likely it comes next.
//
// Where a scheme puts positions:
//
//     sinusoidal, learned    in the first rows: `embedded`
//     rope                   in queries and keys, which are rotated: `rotate`
//     alibi, t5              in the scores, as a bias for each distance: `biases`
//     shaw                   in the scores, as the query times a vector for each distance: `scored`
//     windows_none           as rope, in layers with a window; the last layer sees every row and
//                            rotates nothing. The file says which layers do what: `attend`

import { bucket, bucketStarts, encodingRow, linearBias, slopes } from "../positions.js";

const BYTES = 256;
const SHAW = 16; // keys this far away or further share a vector

/** The logits of the byte after each byte, T × 256, and the attention weights, layers × heads × T × T.
    `set` is what setFor of rules.js returns. */
export function run({ about, tensors }, bytes, set) {
  const model = { ...about, tensors, set, length: bytes.length, d: about.width / about.heads };
  const attention = new Float32Array(about.layers * about.heads * bytes.length ** 2);
  const bias = biases(model);
  const x = embedded(model, bytes);
  for (let layer = 0; layer < about.layers; layer++) {
    const own = (name) => tensors[`blocks.${layer}.${name}`];
    add(x, attend(model, own, normalized(x, own, "attention_norm"), bias, attention, layer));
    const hidden = linear(normalized(x, own, "mlp_norm"), own, "mlp.0");
    add(x, linear(hidden.map(gelu), own, "mlp.2"));
  }
  const last = normalized(x, (name) => tensors[name], "norm");
  return { logits: product(last, tensors["embedding.token_embedding.weight"], about.width), attention };
}

/** The row of each byte, with its position added by the schemes that do that. */
function embedded({ scheme, tensors, width, trained, set }, bytes) {
  const table = tensors["embedding.token_embedding.weight"];
  const positions = tensors["embedding.pos_embedding.embedding.weight"];
  const x = new Float32Array(bytes.length * width);
  bytes.forEach((byte, t) => {
    let row = table.subarray(byte * width, (byte + 1) * width);
    if (scheme === "sinusoidal") row = row.map((entry) => entry * Math.sqrt(width)); // as in the paper
    x.set(row, t * width);
    if (scheme === "sinusoidal") add(x, encodingRow(t, width), t * width);
    if (scheme !== "learned") return;
    const place = set.stretched ? (t * (trained - 1)) / (bytes.length - 1) : t;
    add(x, rowBetween(positions, place, width), t * width);
  });
  return x;
}

/** The row of a table at a place between two of its rows. */
function rowBetween(table, place, width) {
  const lower = Math.floor(place);
  const weight = place - lower;
  const row = table.slice(lower * width, (lower + 1) * width);
  if (!weight) return row;
  return row.map((entry, n) => (1 - weight) * entry + weight * table[(lower + 1) * width + n]);
}

/** The bias of each head for each distance, heads × T, or null: ALiBi's falls evenly, T5's is learned
    for buckets of distances. */
function biases({ scheme, heads, length, tensors }) {
  if (scheme !== "alibi" && scheme !== "t5") return null;
  const [slope, starts] = [slopes(heads), bucketStarts(false)];
  const learned = (head, behind) => tensors["t5.table"][bucket(-behind, starts, false) * heads + head];
  const linearly = (head, behind) => linearBias(slope[head], behind, 0);
  const bias = scheme === "t5" ? learned : linearly;
  return Float64Array.from({ length: heads * length }, (_, n) =>
    bias(Math.floor(n / length), n % length),
  );
}

/** What attention adds to each row; its weights go to the layer's place in `attention`. */
function attend(model, own, x, bias, attention, layer) {
  const { width, heads, length, d, set } = model;
  const rows = linear(x, own, "attention.query_key_value"); // each a query, a key and a value per head
  const window = model.windows?.[layer]; // how many keys a row sees, its own the last; if none, all
  if (set.omegas && (model.rotates?.[layer] ?? true)) rotate(rows, model);
  if (set.logScaled && !window) sharpen(rows, model);
  const found = new Float32Array(length * width);
  for (let head = 0; head < heads; head++) {
    const [query, key, value] = [0, 1, 2].map((part) => (part * heads + head) * d);
    for (let t = 0; t < length; t++) {
      const place = ((layer * heads + head) * length + t) * length;
      const weights = attention.subarray(place, place + t + 1); // of the keys up to this one
      const q = rows.subarray(3 * width * t + query, 3 * width * t + query + d);
      scored(model, own, q, rows, key, weights);
      if (bias) for (let j = 0; j <= t; j++) weights[j] += bias[head * length + t - j];
      if (window) weights.fill(-Infinity, 0, Math.max(0, t + 1 - window));
      softmax(weights);
      const to = width * t + head * d;
      for (let j = 0; j <= t; j++) {
        const weight = weights[j];
        const from = 3 * width * j + value;
        for (let n = 0; n < d; n++) found[to + n] += weight * rows[from + n];
      }
    }
  }
  return linear(found, own, "attention.out");
}

/** Rotate each pair of every query and key by its position times the frequency of the pair. */
function rotate(rows, { width, length, d, set }) {
  for (let t = 0; t < length; t++) {
    const angles = set.omegas.map((omega) => t * omega);
    const turns = angles.map((angle) => [Math.cos(angle), Math.sin(angle)]);
    for (let start = 3 * width * t; start < 3 * width * t + 2 * width; start += d) {
      turns.forEach(([cosine, sine], pair) => {
        const place = start + 2 * pair;
        const [first, second] = [rows[place], rows[place + 1]];
        rows[place] = first * cosine - second * sine;
        rows[place + 1] = first * sine + second * cosine;
      });
    }
  }
}

/** Multiply each query beyond the trained length by log n, relative to that of the trained length. */
function sharpen(rows, { width, length, trained }) {
  for (let t = trained; t < length; t++) {
    const factor = Math.log(t + 1) / Math.log(trained);
    for (let n = 3 * width * t; n < 3 * width * t + width; n++) rows[n] *= factor;
  }
}

/** Write the scores of a query: its product with each key, divided by √d. */
function scored({ width, d, set }, own, q, rows, key, scores) {
  const sharpness = set.temperature ** 2 / Math.sqrt(d); // of queries times of keys
  for (let j = 0; j < scores.length; j++) {
    const from = 3 * width * j + key;
    let sum = 0;
    for (let n = 0; n < d; n++) sum += q[n] * rows[from + n];
    scores[j] = sum * sharpness;
  }
  const table = own("attention.shaw.table"); // a vector for each distance from −16 to 16
  if (!table) return;
  const terms = product(q, table, d);
  for (let j = 0; j < scores.length; j++) {
    const behind = Math.min(scores.length - 1 - j, SHAW);
    scores[j] += terms[SHAW - behind] * sharpness;
  }
}

/** Turn scores into weights that sum to 1. */
export function softmax(scores) {
  const most = scores.reduce((a, b) => Math.max(a, b));
  let sum = 0;
  for (let j = 0; j < scores.length; j++) sum += scores[j] = Math.exp(scores[j] - most);
  for (let j = 0; j < scores.length; j++) scores[j] /= sum;
}

/** Each row with mean 0 and variance 1, then scaled and moved by what was learned. */
function normalized(x, own, name) {
  const [scale, shift] = [own(`${name}.weight`), own(`${name}.bias`)];
  const width = scale.length;
  const out = new Float32Array(x.length);
  for (let start = 0; start < x.length; start += width) {
    let [mean, square] = [0, 0];
    for (let n = start; n < start + width; n++) mean += x[n] / width;
    for (let n = start; n < start + width; n++) square += (x[n] - mean) ** 2 / width;
    const deviation = Math.sqrt(square + 1e-5);
    for (let n = 0; n < width; n++) {
      out[start + n] = ((x[start + n] - mean) / deviation) * scale[n] + shift[n];
    }
  }
  return out;
}

/** A linear layer: each row times a matrix, plus a vector. */
function linear(x, own, name) {
  const [matrix, shift] = [own(`${name}.weight`), own(`${name}.bias`)];
  const out = product(x, matrix, matrix.length / shift.length);
  for (let start = 0; start < out.length; start += shift.length) add(out, shift, start);
  return out;
}

/** Each row of x times each row of a matrix. Nearly all the time is spent here, so it takes four rows
    at once: each weight is then read once for all four. */
function product(x, matrix, width) {
  const [rows, outputs] = [x.length / width, matrix.length / width];
  const out = new Float32Array(rows * outputs);
  for (let row = 0; row < rows; row += 4) {
    const [a, b, c, d] = [0, 1, 2, 3].map((more) => Math.min(row + more, rows - 1));
    const [atA, atB, atC, atD] = [a * width, b * width, c * width, d * width];
    for (let output = 0; output < outputs; output++) {
      const from = output * width;
      let [sumA, sumB, sumC, sumD] = [0, 0, 0, 0];
      for (let n = 0; n < width; n++) {
        const weight = matrix[from + n];
        sumA += x[atA + n] * weight;
        sumB += x[atB + n] * weight;
        sumC += x[atC + n] * weight;
        sumD += x[atD + n] * weight;
      }
      out[a * outputs + output] = sumA;
      out[b * outputs + output] = sumB;
      out[c * outputs + output] = sumC;
      out[d * outputs + output] = sumD;
    }
  }
  return out;
}

/** Add a row, or all rows, to x from some place on. */
function add(x, row, from = 0) {
  for (let n = 0; n < row.length; n++) x[from + n] += row[n];
}

const CURVE = [-1.453152027, 1.421413741, -0.284496736, 0.254829592];
const gelu = (x) => (x / 2) * (1 + erf(x * Math.SQRT1_2));

/** The error function, to 1.5e-7: Abramowitz and Stegun, formula 7.1.26. */
function erf(x) {
  const t = 1 / (1 + 0.3275911 * Math.abs(x));
  let sum = 1.061405429;
  for (const term of CURVE) sum = sum * t + term;
  return Math.sign(x) * (1 - sum * t * Math.exp(-x * x));
}

/** What a model made of a text: the surprise of each byte after the first in bits, and the likeliest
    bytes before each with their probabilities, `most` for each. */
export function judged(logits, bytes, most = 3) {
  const surprise = new Float32Array(bytes.length);
  const guesses = [[]];
  for (let t = 1; t < bytes.length; t++) {
    const odds = logits.slice((t - 1) * BYTES, t * BYTES);
    softmax(odds);
    surprise[t] = -Math.log2(Math.max(odds[bytes[t]], Number.MIN_VALUE));
    const best = [...odds.keys()].sort((a, b) => odds[b] - odds[a]).slice(0, most);
    guesses.push(best.map((byte) => [byte, odds[byte]]));
  }
  return { surprise, guesses };
}
