// Finds pages and their sections for what a reader types. MiniSearch ranks sections; its index comes
// packed, as search/index.json, which scripts/site/search_index.mjs writes.

import MiniSearch from "../../built/search/minisearch.js";
import { names, stem, telling, whole } from "./words.js";

/** The fields of a section, and how much a word in each weighs: the title of the page, for its first
    section only; the heading; the first sentences; the other text; names of what the section explains;
    titles, headings and names as wholes. */
const WEIGHTS = { title: 4, heading: 3, lead: 1.5, text: 1, names: 2, whole: 3 };
export const FIELDS = Object.keys(WEIGHTS);

const BM25 = { k: 1.2, b: 0.7, d: 0 };
const OF_A_PREFIX = 0.5; // the weight of a word that only begins with what was typed
const OF_THE_PAGE = 0.7; // how much of the score of a page's first section its other sections get
const OF_A_RECORD = 0.6; // the weight of pages that keep records of what other pages explain
const RECORDS = /^(trust|vectors\/libraries)\//;
const COMMON = 3; // a word that the book has only in other forms is right if it has it this often
const EXCHANGE = 0.9; // of two letters, a frequent slip of the fingers
const VOWEL = 0.5; // the cost of a wrong vowel: readers who spell by ear get the consonants right

/** Unpack an index. */
export function unpack({ pages, sections, vocabulary, postings, lengths }) {
  const words = vocabulary.split(" ");
  const stems = [...new Set(words.map(stem))];
  const counts = postings.map(countsByField);
  const engine = MiniSearch.loadJS(unpacked(stems, counts, lengths), {
    fields: FIELDS,
    tokenize: (text) => [text],
    processTerm: (term) => term,
  });
  const common = new Map(stems.map((term, place) => [term, commonness(counts[place])]));
  const known = new Map(words.map((word) => [word, common.get(stem(word))]));
  return { pages, sections, known, common, engine };
}

/** Return in about how many sections a term is. */
function commonness(fields) {
  return Object.values(fields).reduce((sum, counts) => sum + Object.keys(counts).length, 0);
}

/** Return an index in the form that MiniSearch writes. */
function unpacked(stems, counts, lengths) {
  const numbered = (list) => Object.fromEntries(list.map((value, place) => [place, value]));
  // The mean is of the sections that have the field: only first sections have a title, for example.
  const mean = (field) => {
    const full = lengths.map((row) => row[field]).filter(Boolean);
    return full.reduce((sum, length) => sum + length, 0) / (full.length || 1);
  };
  return {
    serializationVersion: 2,
    documentCount: lengths.length,
    nextId: lengths.length,
    documentIds: numbered(lengths.map((_, place) => place)),
    fieldIds: Object.fromEntries(FIELDS.map((name, place) => [name, place])),
    fieldLength: numbered(lengths),
    averageFieldLength: FIELDS.map((_, field) => mean(field)),
    storedFields: {},
    dirtCount: 0,
    index: stems.map((term, place) => [term, counts[place]]),
  };
}

/** Return the sections that have a term, by field, each with a count of one: counting every
    appearance finds no page better. Packed, a field has the steps from number to number. */
function countsByField(packed) {
  const fields = {};
  packed.split("|").forEach((row, field) => {
    if (!row) return;
    const counts = (fields[field] = {});
    let at = -1;
    for (const step of row.split(" ")) counts[(at += parseInt(step, 36))] = 1;
  });
  return fields;
}

const cost = (letter) => ("aeiouy".includes(letter) ? VOWEL : 1);

/** Return the distance of two words if it is at most `limit`, else Infinity: how many letters are
    missing, too many, wrong, or exchanged with the next. A vowel counts less. */
export function distance(one, other, limit) {
  if (Math.abs(one.length - other.length) * VOWEL > limit) return Infinity;
  const first = [0];
  for (const letter of other) first.push(first.at(-1) + cost(letter));
  let [before, row] = [[], first];
  for (let i = 1; i <= one.length; i++) {
    const gone = cost(one[i - 1]);
    const next = [row[0] + gone];
    for (let j = 1; j <= other.length; j++) {
      const come = cost(other[j - 1]);
      const differs = one[i - 1] === other[j - 1] ? 0 : Math.max(gone, come);
      next[j] = Math.min(row[j] + gone, next[j - 1] + come, row[j - 1] + differs);
      if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1])
        next[j] = Math.min(next[j], before[j - 2] + EXCHANGE);
    }
    if (Math.min(...next) > limit) return Infinity;
    [before, row] = [row, next];
  }
  return row.at(-1) <= limit ? row.at(-1) : Infinity;
}

/** Return the word of the book that is nearest to one that the book does not have, if one is near. Of
    words equally near, one with the same first letter is taken, then one that is more common. */
export function nearest(word, known) {
  const limit = word.length < 4 || /^\d+$/.test(word) ? 0 : word.length < 6 ? 1 : 2;
  let [best, least] = [undefined, Infinity];
  for (const [other, count] of limit ? known : []) {
    if (other.length < 3 || other.startsWith("=")) continue;
    const away = distance(word, other, limit) + (other[0] === word[0] ? 0 : 0.5);
    const cost = away - Math.min(0.45, Math.log10(count + 1) / 8);
    if (cost < least) [best, least] = [other, cost];
  }
  return best;
}

/** Read a query: return the terms to look up, each with whether it may be the beginning of a word, and
    the words that were corrected, as pairs. Of a name that the book has, the parts are not looked up. */
export function read(query, { known, common }) {
  const has = (word) => known.has(word) || common.get(stem(word)) >= COMMON;
  const typed = names(query).flatMap(([name, ...parts]) => (has(name) || !parts.length ? name : parts));
  const last = /[\p{L}\p{N}_]$/u.test(query) ? typed.at(-1) : "";
  const [terms, corrected] = [new Map(), []];
  for (const word of telling(typed)) {
    const isBegun = word === last && word.length > 1;
    if (has(word)) terms.set(stem(word), isBegun);
    else if (isBegun && begins(word, known)) terms.set(word, true);
    else {
      const near = nearest(word, known);
      if (near) corrected.push([word, near]);
      if (near || common.has(stem(word))) terms.set(stem(near ?? word), false);
    }
  }
  return { terms, corrected };
}

/** Return whether a word of the book begins with these letters. */
function begins(letters, known) {
  for (const word of known.keys()) if (word.startsWith(letters)) return true;
  return false;
}

/** Return what a query finds, pages and in each its sections, best first, and how it was read. */
export function find(query, index) {
  const { terms, corrected } = read(query, index);
  const queries = [...terms].map(([term, prefix]) => ({ queries: [term], prefix }));
  const ranked = index.engine.search(
    { combineWith: "OR", queries: [...queries, whole([...terms.keys()])] },
    { boost: WEIGHTS, bm25: BM25, weights: { prefix: OF_A_PREFIX, fuzzy: 0 } },
  );
  return { pages: byPage(ranked, terms, index), terms, corrected };
}

/** Return whether the title of a page has all the terms of a query. */
function isTitled(first, terms) {
  return first !== undefined && [...terms.keys()].every((term) => first.match[term]?.includes("title"));
}

/** Group sections by page. A section's score is its own with some of that of the page's first section,
    times the share of the terms that either has. A page's is that of its best section, and a little
    for the others; less for a page of records. A page with all the terms in its title is shown from
    its beginning. */
function byPage(ranked, terms, { pages, sections }) {
  const firsts = new Map();
  for (const found of ranked) {
    const [page, anchor] = sections[found.id];
    if (!anchor) firsts.set(page, found);
  }
  const groups = new Map();
  for (const found of ranked) {
    const [page, anchor = "", heading = ""] = sections[found.id];
    const [path, title, parts] = pages[page];
    const first = anchor ? firsts.get(page) : undefined;
    const met = new Set([...found.queryTerms, ...(first?.queryTerms ?? [])]);
    const share = [...met].filter((term) => terms.has(term)).length / terms.size;
    const score = share * (found.score + OF_THE_PAGE * (first?.score ?? 0));
    const group = groups.get(page) ?? { path, title, first: firsts.get(page), sections: [] };
    const part = parts.findLastIndex((begin) => begin <= found.id);
    group.sections.push({ anchor, heading, score, part });
    groups.set(page, group);
  }
  const best = (one, other) => other.score - one.score;
  for (const group of groups.values()) {
    const [first, ...others] = group.sections.sort(best);
    if (isTitled(group.first, terms)) group.sections.sort((one, other) => !other.anchor - !one.anchor);
    const all = first.score + Math.log1p(others.reduce((sum, { score }) => sum + score, 0));
    group.score = all * (RECORDS.test(group.path) ? OF_A_RECORD : 1);
  }
  return [...groups.values()].sort(best);
}
