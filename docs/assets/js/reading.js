// Describes a cell of the plate on the home page in a sentence.

import { frequency, printed, printedTurn, wavelength } from "./positions.js";

/** The values of a pair at a position in a table of width d, and the wavelength of the pair. */
export function sentence(position, pair, d) {
  const angle = position * frequency(pair, d);
  const [sine, cosine] = [Math.sin(angle), Math.cos(angle)].map((value) => printed(value, 3));
  return (
    `Position ${position}, pair ${pair}: sin = ${sine}, cos = ${cosine}. ` +
    `One turn takes ${printedTurn(wavelength(pair, d))} positions.`
  );
}
