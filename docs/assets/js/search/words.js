// How a text becomes the words that the search compares. The index is built with these functions, and
// queries are read with them.

import { stemmer } from "../../built/search/stemmer.js";

const TOKEN = /[\p{L}\p{N}]+(?:_+[\p{L}\p{N}]+)*/gu;
// Where a name in camel case is split. Each part has three letters or more, so RoPE stays whole.
const CAMEL = /(?<=\p{L}\p{Ll}{2})(?=\p{Lu}\p{L}{2})|(?<=\p{Lu}{3})(?=\p{Lu}\p{Ll}{2})/u;
const NUMBERED = /(?<=\p{L}{3})(?=\p{N}+$)/u; // so that "gpt2" finds GPT-2

const STOPS = new Set(
  (
    "a about after al all also am an and any are as at be because been before being but by can could did didn do does " +
    "doesn doing don et for from get gets had has have how i if in into is isn it its just me my of on or our out own " +
    "s should so some such t than that the their them then there these they this those to too us was we were what " +
    "whats when where while who whom why will with would you your"
  ).split(" "),
);

/** Return the words of a text in their order, in lower case and without accents, each in a list: a
    name of several parts, such as `rope_theta` or `RotaryEmbedding`, is followed by its parts. */
export function names(text) {
  const plain = text.replace(/(\d),(?=\d{3})/g, "$1").normalize("NFKD").replace(/\p{M}/gu, "");
  return [...plain.matchAll(TOKEN)].map(([token]) => {
    const split = (parts, at) => parts.flatMap((part) => part.split(at)).filter(Boolean);
    const parts = [/_+/, CAMEL, NUMBERED].reduce(split, [token]);
    return [token, ...(parts.length > 1 ? parts : [])].map((word) => word.toLowerCase());
  });
}

/** Return the words of a text, names and their parts. */
export function words(text) {
  return names(text).flat();
}

/** Return those of some words that say what a text is about, or all of them if none does. */
export function telling(all) {
  const found = all.filter((word) => !STOPS.has(word));
  return found.length ? found : all;
}

/** Return the form that stands for a word with all its endings: "rotate" and "rotation" share one, and
    so do "config" and "configuration". */
export function stem(word) {
  return /[_=]/.test(word) ? word : stemmer(/^configs?$/.test(word) ? "configuration" : word);
}

/** Return the term for a whole name or title, so that a query that is just that finds it first. */
export function whole(stems) {
  return `=${stems.join("+")}`;
}
