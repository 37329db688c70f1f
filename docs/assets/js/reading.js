// A cell of the home page's plate as a sentence.

import { frequency, printed, printedTurn, wavelength } from "./positions.js";

/** What stands in a pair at a position of a table d wide, and how slow the pair is. */
export function sentence(position, pair, d) {
  const angle = position * frequency(pair, d);
  const [sine, cosine] = [Math.sin(angle), Math.cos(angle)].map((value) => printed(value, 3));
  return (
    `Position ${position}, pair ${pair}: sin = ${sine}, cos = ${cosine}. ` +
    `One turn takes ${printedTurn(wavelength(pair, d))} positions.`
  );
}
