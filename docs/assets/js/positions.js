// The mathematics of the explorers. It does not use the page, so a test can compare it with the
// package.

/** The list of f(0), …, f(count − 1). */
export function list(length, make) {
  return Array.from({ length }, (_, n) => make(n));
}

/** The frequency ω of a pair in a table d wide, in radians per position. */
export function frequency(pair, d, base = 10000) {
  return base ** ((-2 * pair) / d);
}

/** The frequency of every pair. */
export function frequencies(d, base = 10000) {
  return list(d / 2, (pair) => frequency(pair, d, base));
}

/** The largest of numbers, however many: Math.max(...numbers) fails beyond some ten thousand. */
export const largest = (numbers) => numbers.reduce((a, b) => Math.max(a, b), -Infinity);

/** The smallest of numbers, however many. */
export const smallest = (numbers) => numbers.reduce((a, b) => Math.min(a, b), Infinity);

/** The number of positions in which a pair turns once. */
export function wavelength(pair, d, base = 10000) {
  return (2 * Math.PI) / frequency(pair, d, base);
}

/** The row of a position: sine and cosine of each pair, side by side. */
export function encodingRow(position, d, base = 10000) {
  const angles = frequencies(d, base).map((omega) => position * omega);
  return angles.flatMap((angle) => [Math.sin(angle), Math.cos(angle)]);
}

/** The cosine similarity of rows `lag` apart: the mean of cos(lag·ω). */
export function similarity(lag, d, base = 10000) {
  const omegas = frequencies(d, base);
  return omegas.reduce((sum, omega) => sum + Math.cos(lag * omega), 0) / omegas.length;
}

/** The rows of M with PE(p + offset) = M PE(p): a rotation for each pair. */
export function shiftMatrix(offset, d, base = 10000) {
  const matrix = list(d, () => Array(d).fill(0));
  frequencies(d, base).forEach((omega, pair) => {
    const [cosine, sine, even] = [Math.cos(offset * omega), Math.sin(offset * omega), 2 * pair];
    matrix[even].splice(even, 2, cosine, sine);
    matrix[even + 1].splice(even, 2, -sine, cosine);
  });
  return matrix;
}

/** The two dimensions of each pair: neighbours if interleaved, otherwise half the width apart. */
export function pairs(d, layout) {
  return list(d / 2, (i) => (layout === "interleaved" ? [2 * i, 2 * i + 1] : [i, i + d / 2]));
}

/** A vector with every pair rotated by position·ω. */
export function rope(x, position, omegas, layout = "interleaved") {
  const turned = [...x];
  pairs(x.length, layout).forEach(([first, second], pair) => {
    const angle = position * omegas[pair];
    turned[first] = x[first] * Math.cos(angle) - x[second] * Math.sin(angle);
    turned[second] = x[first] * Math.sin(angle) + x[second] * Math.cos(angle);
  });
  return turned;
}

/** A vector converted to another layout, with the same pairs. */
export function convertLayout(x, source, target) {
  const moved = [...x];
  const from = pairs(x.length, source).flat();
  pairs(x.length, target).flat().forEach((place, n) => (moved[place] = x[from[n]]));
  return moved;
}

/** The score of a query and a key, or any other dot product. */
export function score(query, key) {
  return query.reduce((sum, entry, n) => sum + entry * key[n], 0);
}

/** Frequencies by interpolation: every pair slower. */
export function interpolated(d, factor, base = 10000) {
  return frequencies(d, base).map((omega) => omega / factor);
}

/** NTK-aware: a larger base. */
export function ntk(d, factor, base = 10000) {
  return frequencies(d, base * factor ** (d / (d - 2)));
}

/** The number of turns that pairs of these frequencies make in a text of a given length. */
export function turns(omegas, length) {
  return omegas.map((omega) => (length * omega) / (2 * Math.PI));
}

/** YaRN: interpolation that depends on the number of turns a pair makes in training. */
export function yarn(d, factor, trained, base = 10000, fast = 32, slow = 1) {
  const omegas = frequencies(d, base);
  return turns(omegas, trained).map((often, pair) => {
    const kept = Math.min(Math.max((often - slow) / (fast - slow), 0), 1);
    return ((1 - kept) / factor + kept) * omegas[pair];
  });
}

/** The factor by which YaRN scales queries and keys. */
export function temperature(factor) {
  return 0.1 * Math.log(factor) + 1;
}

/** ALiBi's slope of each head, by the authors' rule. */
export function slopes(heads) {
  const n = 2 ** (31 - Math.clz32(heads)); // a power of two
  return list(heads, (k) => 2 ** (k < n ? (-8 * (k + 1)) / n : (-4 * (2 * (k - n) + 1)) / n));
}

/** The bias that a head of ALiBi adds to a score; causal, it masks later keys. */
export function linearBias(slope, query, key, causal = true) {
  return causal && key > query ? -Infinity : slope * -Math.abs(key - query);
}

/** The first n with n ≥ exact·(end/exact)^(step/steps), in integers to avoid rounding errors. */
function firstOf(step, exact, end, steps) {
  const bound = BigInt(end) ** BigInt(step) * BigInt(exact) ** BigInt(steps - step);
  let [low, high] = [exact, end];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (BigInt(middle) ** BigInt(steps) >= bound) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The distance at which each of T5's buckets starts, on one side. */
export function bucketStarts(bidirectional = true, buckets = 32, maxDistance = 128) {
  const side = bidirectional ? buckets / 2 : buckets;
  const exact = Math.floor(side / 2);
  return list(side, (n) => (n < exact ? n : firstOf(n - exact, exact, maxDistance, side - exact)));
}

/** T5's bucket of a relative position, key − query. */
export function bucket(relative, starts, bidirectional = true) {
  const distance = bidirectional ? Math.abs(relative) : Math.max(-relative, 0);
  const own = starts.findLastIndex((start) => start <= distance);
  return bidirectional && relative > 0 ? own + starts.length : own;
}

/** A number with fixed decimals, a true minus sign, and no minus before a zero. */
export function printed(value, decimals) {
  const text = Math.abs(value).toFixed(decimals);
  return value < 0 && Number(text) !== 0 ? `−${text}` : text;
}

/** A length in positions, with a decimal if it is short. */
export function printedTurn(positions) {
  return printed(positions, positions < 1000 ? 1 : 0);
}
