// The sentence of a section that is shown for a query, with the words that were found.

import { stem, words } from "./words.js";

const WORD = /[\p{L}\p{N}_]+/gu;
const LONGEST = 240; // letters of an excerpt
const BEFORE = 80; // letters before the first word that was found, in a sentence that is cut
const FORMULA = "\u200b"; // in the text of every formula

/** Return the terms that a word of a text stands for, of those that were looked for. Some may be only
    the beginnings of words. */
function met(word, terms) {
  const parts = words(word);
  const stems = parts.map(stem);
  return [...terms].flatMap(([term, isBegun]) =>
    stems.includes(term) || (isBegun && parts.some((part) => part.startsWith(term))) ? [term] : [],
  );
}

/** Return a text in parts, each with whether it is a word that was looked for. */
export function marked(text, terms) {
  const parts = [];
  let begin = 0;
  for (const { 0: word, index } of text.matchAll(WORD)) {
    if (!met(word, terms).length) continue;
    parts.push([text.slice(begin, index), false], [word, true]);
    begin = index + word.length;
  }
  return [...parts, [text.slice(begin), false]].filter(([part]) => part);
}

/** Return the first of the sentences with the most of the terms, and the text fragment that makes a
    browser show it, if its words stand in the page as they are. */
export function excerpt(sentences, terms) {
  let [best, most] = [sentences[0] ?? "", 0];
  for (const sentence of sentences) {
    const found = new Set([...sentence.matchAll(WORD)].flatMap(([word]) => met(word, terms))).size;
    if (found > most) [best, most] = [sentence, found];
  }
  return { text: shortened(best, terms), fragment: most ? fragment(best) : "" };
}

/** Return a sentence without its far parts if it is long. */
function shortened(sentence, terms) {
  if (sentence.length <= LONGEST) return sentence;
  const first = [...sentence.matchAll(WORD)].find(([word]) => met(word, terms).length)?.index ?? 0;
  const begin = first < LONGEST - BEFORE ? 0 : sentence.indexOf(" ", first - BEFORE) + 1;
  const end = begin + LONGEST < sentence.length ? sentence.lastIndexOf(" ", begin + LONGEST) : sentence.length;
  return `${begin ? "… " : ""}${sentence.slice(begin, end)}${end < sentence.length ? " …" : ""}`;
}

/** Return the first words of a sentence and its last as a text fragment. */
function fragment(sentence) {
  const all = sentence.split(" ");
  if (sentence.includes(FORMULA) || all.length < 4) return "";
  const encoded = (part) => encodeURIComponent(part.join(" ")).replaceAll("-", "%2D");
  if (all.length < 9) return encoded(all);
  return `${encoded(all.slice(0, 4))},${encoded(all.slice(-4))}`;
}
