// Lines of a limited width, as textwrap.wrap of Python breaks them: at spaces and after hyphens.

import { lengthOf } from "./python.js";

const PUNCTUATED = "[\\p{L}\\p{N}_!\"'&.,?]";
const LETTER = "[\\p{L}\\p{Nl}\\p{No}_]";
const [SPACE, OTHER] = ["[\\t\\n\\v\\f\\r ]", "[^\\t\\n\\v\\f\\r ]"];
const AFTER_HYPHEN = `-(?:(?<=${LETTER}{2}-)|(?<=${LETTER}-${LETTER}-))(?=${LETTER}-?${LETTER})`;
const PIECES = new RegExp(
  `(${SPACE}+|(?<=${PUNCTUATED})-{2,}(?=[\\p{L}\\p{N}_])|` +
    `${OTHER}+?(?:${AFTER_HYPHEN}|(?=${SPACE}|$)|(?<=${PUNCTUATED})(?=-{2,}[\\p{L}\\p{N}_])))`,
  "u",
);

/** As much of a piece that is longer than a line as fits: up to its last hyphen, if it has one. */
function broken(piece, room) {
  const letters = [...piece];
  const hyphen = letters.slice(0, room).lastIndexOf("-");
  const end = hyphen > 0 && letters.slice(0, hyphen).some((one) => one !== "-") ? hyphen + 1 : room;
  return [letters.slice(0, end).join(""), letters.slice(end).join("")];
}

const isSpace = (piece) => !piece.trim();

/** The lines of a text, the first indented by one text and the others by another. */
export function wrap(text, width, first = "", other = first) {
  const pieces = text.replace(/[\t\n\v\f\r]/g, " ").split(PIECES).filter(Boolean);
  const lines = [];
  while (pieces.length) {
    const indent = lines.length ? other : first;
    const room = width - indent.length;
    const line = [];
    let used = 0;
    if (isSpace(pieces[0]) && lines.length) pieces.shift();
    while (pieces.length && used + lengthOf(pieces[0]) <= room) {
      used += lengthOf(pieces[0]);
      line.push(pieces.shift());
    }
    if (pieces.length && lengthOf(pieces[0]) > room) {
      const [now, later] = broken(pieces[0], room - used);
      line.push(now);
      pieces[0] = later;
    }
    if (line.length && isSpace(line.at(-1))) line.pop();
    if (line.length) lines.push(indent + line.join(""));
  }
  return lines;
}
