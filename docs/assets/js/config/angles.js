// posenc/_angles.py: which pairs meet angles that training did not bring.

/** Which pairs complete no turn within so many positions; one that stands still never does. */
export const neverRound = (omega, trained) => omega.map((one) => (2 * Math.PI) / one > trained);

/** Which pairs go beyond their angles of training in a sequence of this length, if each is slowed
    so much. */
export function unseenPairs(omega, slowed, { trained, length }) {
  const never = neverRound(omega, trained);
  return never.map((slow, pair) => slow && length - 1 >= trained * slowed[pair]);
}
