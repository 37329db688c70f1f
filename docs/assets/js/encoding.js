// The sinusoidal encoding, in the letters of chapter 1. This module knows numbers and no page, so
// that a test can hold it against the Python package.

/** The frequency ω of a pair in a table d wide, in radians per position. */
export function frequency(pair, d, base = 10000) {
  return base ** ((-2 * pair) / d);
}

/** How many positions a pair takes to turn once. */
export function wavelength(pair, d, base = 10000) {
  return (2 * Math.PI) / frequency(pair, d, base);
}

/** The two entries of a pair at a position. */
export function entries(position, pair, d, base = 10000) {
  const angle = position * frequency(pair, d, base);
  return { sine: Math.sin(angle), cosine: Math.cos(angle) };
}

/** A number with fixed decimals, a true minus sign, and no minus before a zero. */
export function printed(value, decimals) {
  const text = Math.abs(value).toFixed(decimals);
  return value < 0 && Number(text) !== 0 ? `−${text}` : text;
}

/** One cell of the table as a sentence. */
export function reading(position, pair, d) {
  const { sine, cosine } = entries(position, pair, d);
  const turn = wavelength(pair, d);
  return (
    `Position ${position}, pair ${pair}: sin = ${printed(sine, 3)}, cos = ${printed(cosine, 3)}. ` +
    `One turn takes ${printed(turn, turn < 1000 ? 1 : 0)} positions.`
  );
}
