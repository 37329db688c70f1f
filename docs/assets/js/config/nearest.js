// Which known key is written most like another: difflib.get_close_matches(n=1, cutoff=0) of Python,
// which goes by the blocks that two words have in common.

import { largest } from "../positions.js";
import { entries as limits } from "./tables.js";

const LONG = Number(limits.LONG);

/** The places of each character, without those that are everywhere in a long word. */
function placesOf(word) {
  const places = Map.groupBy(word.keys(), (n) => word[n]);
  if (word.length < 200) return places;
  const most = Math.floor(word.length / 100) + 1;
  return new Map([...places].filter(([, all]) => all.length <= most));
}

/** The longest block that parts of two words have in common: its start in each, and its length. */
function longest(a, b, places, [aLow, aHigh, bLow, bHigh]) {
  let [i, j, size] = [aLow, bLow, 0];
  let ending = new Map(); // by place in b, how long a block ends there
  for (let n = aLow; n < aHigh; n++) {
    const now = new Map();
    for (const m of places.get(a[n]) ?? []) {
      if (m < bLow || m >= bHigh) continue;
      const long = (ending.get(m - 1) ?? 0) + 1;
      now.set(m, long);
      if (long > size) [i, j, size] = [n - long + 1, m - long + 1, long];
    }
    ending = now;
  }
  while (i > aLow && j > bLow && a[i - 1] === b[j - 1]) [i, j, size] = [i - 1, j - 1, size + 1];
  while (i + size < aHigh && j + size < bHigh && a[i + size] === b[j + size]) size++;
  return [i, j, size];
}

/** How many characters two words have in common blocks. */
function common(a, b, places) {
  const parts = [[0, a.length, 0, b.length]];
  let all = 0;
  while (parts.length) {
    const [aLow, aHigh, bLow, bHigh] = parts.pop();
    const [i, j, size] = longest(a, b, places, [aLow, aHigh, bLow, bHigh]);
    if (!size) continue;
    all += size;
    if (aLow < i && bLow < j) parts.push([aLow, i, bLow, j]);
    if (i + size < aHigh && j + size < bHigh) parts.push([i + size, aHigh, j + size, bHigh]);
  }
  return all;
}

/** The known key that is written most like another; of several, the last in the alphabet. */
export function nearest(key, known) {
  const word = [...key].slice(0, LONG);
  const places = placesOf(word);
  const ratio = (one) => {
    const letters = [...one];
    const both = letters.length + word.length;
    return both ? (2 * common(letters, word, places)) / both : 1;
  };
  const sorted = [...known].sort();
  const ratios = sorted.map(ratio);
  return sorted[ratios.lastIndexOf(largest(ratios))];
}

/** Whether so many edits at most make one word of another. The edits are counted only where they can
    be few, since counting takes long. */
export function alike(first, second, most) {
  if (Math.abs(first.length - second.length) > 2 * most) return false;
  const [a, b] = [[...first], [...second]];
  const [own, other] = [new Set(a), new Set(b)];
  const few = Math.abs(a.length - b.length) <= most && own.symmetricDifference(other).size <= 2 * most;
  return few && a.length <= LONG && edits(first, second) <= most;
}

/** How many letters to insert, drop, change or swap to make one word of another. */
export function edits(first, second) {
  const [a, b] = [[...first], [...second]];
  const rows = [[...Array(b.length + 1).keys()]];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    const above = rows.at(-1);
    for (let j = 1; j <= b.length; j++) {
      row.push(Math.min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] !== b[j - 1])));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        row[j] = Math.min(row[j], rows.at(-2)[j - 2] + 1);
      }
    }
    rows.push(row);
  }
  return rows.at(-1).at(-1);
}
