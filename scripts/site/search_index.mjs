// search_index.mjs: read the pages of the book as JSON from the standard input, as search_index.py
// writes them, and write the packed index of the search as JSON to the standard output.

import { readFileSync } from "node:fs";
import { FIELDS } from "../../docs/assets/js/search/engine.js";
import { names, stem, telling, whole, words } from "../../docs/assets/js/search/words.js";

const LONGEST_NUMBER = 6; // digits of a number that readers type; others are results
const LONGEST_NAME = 4; // words of a name that is looked for as a whole
const MOST = 1; // counts of a word in a field are cut off here

const pages = JSON.parse(readFileSync(0, "utf8"));
const vocabulary = new Set();
const postings = new Map(); // for each stem, by field, the sections that have it
const [sections, lengths] = [[], []];

/** Return the words of a text that are indexed. */
function indexed(text) {
  return telling(words(text)).filter((word) => !(/^\d+$/.test(word) && word.length > LONGEST_NUMBER));
}

/** Return the terms for some phrases as wholes; not for long ones, which nobody types. */
function wholes(phrases) {
  const stems = phrases.map((phrase) => [...new Set(telling(names(phrase).map(([name]) => name)).map(stem))]);
  return stems.filter(({ length }) => length && length <= LONGEST_NAME).map(whole);
}

/** Return the words of a section by field, in the order of FIELDS. */
function fieldsOf({ heading, sentences, cells, names: others }, title) {
  const lead = title ? 5 : 1; // sentences: the description of a page, whom it is for, its first paragraph
  return {
    title: title ? indexed(title) : [],
    heading: title ? [] : indexed(heading),
    lead: indexed(sentences.slice(0, lead).join(" ")),
    text: indexed([...sentences.slice(lead), ...cells].join(" ")),
    names: others.flatMap(indexed),
    whole: wholes([title || heading, ...others]),
  };
}

for (const [number, page] of pages.entries()) {
  page.parts = page.parts.map((begin) => begin + sections.length); // as numbers of sections
  for (const [place, section] of page.sections.entries()) {
    const id = sections.length;
    sections.push(place ? [number, section.anchor, section.heading] : [number]);
    const fields = fieldsOf(section, place ? "" : page.title);
    lengths.push(FIELDS.map((name) => (name === "whole" ? 1 : fields[name].length)));
    for (const word of Object.values(fields).flat()) vocabulary.add(word);
    FIELDS.forEach((name, field) => {
      for (const term of fields[name].map(stem)) {
        if (!postings.has(term)) postings.set(term, FIELDS.map(() => new Set()));
        postings.get(term)[field].add(id);
      }
    });
  }
}

/** Pack the sections that have a term in a field, as steps from one to the next. */
function packed(ids) {
  return [...ids].map((id, place, all) => (id - (all[place - 1] ?? -1)).toString(36)).join(" ");
}

const sorted = [...vocabulary].sort();
const stems = [...new Set(sorted.map(stem))];
console.log(
  JSON.stringify({
    pages: pages.map(({ path, title, parts }) => [path, title, parts]),
    sections,
    vocabulary: sorted.join(" "),
    postings: stems.map((term) => postings.get(term).map(packed).join("|")),
    lengths,
  }),
);
