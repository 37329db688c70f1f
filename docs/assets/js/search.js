// The search box: opens and closes its panel, and shows what the reader's words find.

import { find, unpack } from "./search/engine.js";
import { excerpt, marked } from "./search/excerpt.js";

const ROOT = new URL("../../", import.meta.url);
const PAGES = 8; // how many pages are shown
const SECTIONS = 3; // and of each, how many sections
const NEAR = 0.4; // a further section is shown if its score is this share of the page's best one
const PAUSE = 150; // milliseconds without a key after which excerpts are fetched

/** Fetch a file of the search. */
async function fetched(name) {
  const answer = await fetch(new URL(`search/${name}.json`, ROOT));
  if (!answer.ok) throw new Error(`search/${name}.json: ${answer.status}`);
  return answer.json();
}

const loaded = new Map(); // the sentences of sections by anchor, for each file of them

function fileOf(page, { part }) {
  return `${page.path.slice(0, -1) || "home"}/${part}`;
}

function element(name, kind, ...content) {
  const made = document.createElement(name);
  if (kind) made.className = kind;
  made.append(...content);
  return made;
}

/** Return a text with the words that were found marked. */
function withMarks(text, terms) {
  return marked(text, terms).map(([part, isFound]) => (isFound ? element("mark", "", part) : part));
}

/** Return the link to a section. With its excerpt, the link also names the sentence, which the browser
    then shows and marks in the page. */
function link(page, section, isFirst, terms) {
  const { anchor, heading } = section;
  const made = element("a");
  const address = new URL(page.path + (anchor ? `#${anchor}` : ""), ROOT);
  made.href = address;
  if (isFirst) made.append(element("span", "search-title", ...withMarks(page.title, terms)));
  if (anchor) made.append(element("span", "search-heading", ...withMarks(heading, terms)));
  const shown = element("span", "search-excerpt");
  made.append(shown);
  const file = fileOf(page, section);
  const fill = () => {
    const found = excerpt(loaded.get(file)?.[anchor] ?? [], terms);
    shown.replaceChildren(...withMarks(found.text, terms));
    if (found.fragment) made.href = `${address}${anchor ? "" : "#"}:~:text=${found.fragment}`;
  };
  if (loaded.has(file)) fill();
  return { made, file, fill };
}

/** Return the links to a page: to its best section, and to others that are nearly as good. */
function links(page, terms) {
  const [best, ...others] = page.sections;
  const near = others.filter(({ anchor, score }) => anchor && score >= NEAR * best.score);
  return [best, ...near].slice(0, SECTIONS).map((section, place) => link(page, section, !place, terms));
}

let started;

/** Start the search, once, and return how to open it and how to show a query. */
export function start(search, button) {
  return (started ??= connected(search, button));
}

function connected(search, button) {
  const [field, panel, status, list] = ["field", "panel", "status", "found"].map((name) =>
    search.querySelector(`.search-${name}`),
  );
  const index = fetched("index").then(unpack);
  let pause;

  const open = () => {
    search.classList.add("is-open");
    button.ariaExpanded = "true";
    if (!search.contains(document.activeElement)) field.focus();
  };
  const close = () => {
    search.classList.remove("is-open");
    button.ariaExpanded = "false";
  };
  const leave = () => {
    field.focus(); // before the panel goes, lest the focus be lost
    close();
    if (button.checkVisibility()) button.focus();
  };

  /** Say what was found, which word is meant by one that the book does not have, or that nothing was. */
  const say = ({ pages, corrected }, query) => {
    if (corrected.length) {
      const meant = corrected.reduce((text, [typed, near]) => text.replace(new RegExp(typed, "i"), near), query);
      const offer = element("button", "", meant);
      offer.type = "button";
      offer.addEventListener("click", () => show(meant));
      status.replaceChildren("Did you mean ", offer, "?");
    } else if (!pages.length) {
      const words = element("a", "", "words of this book");
      words.href = new URL("reference/glossary/", ROOT);
      status.replaceChildren(`Nothing found for “${query}”. See the `, words, ".");
    } else {
      const all = pages.length === 1 ? "1 page" : `${pages.length} pages`;
      status.textContent = pages.length > PAGES ? `The best ${PAGES} of ${all}` : all;
    }
  };

  /** Show what a query finds: pages and headings at once, excerpts when their sentences have come. */
  const fill = (found) => {
    const pages = found.pages.slice(0, PAGES).map((page) => links(page, found.terms));
    list.replaceChildren(...pages.map((all) => element("li", "", ...all.map(({ made }) => made))));
    panel.scrollTop = 0;
    const waiting = pages.flat().filter(({ file }) => !loaded.has(file));
    clearTimeout(pause);
    pause = setTimeout(() => {
      for (const file of new Set(waiting.map(({ file }) => file))) {
        fetched(file)
          .then((sentences) => {
            loaded.set(file, sentences);
            for (const one of waiting) if (one.file === file) one.fill();
          })
          .catch(() => {}); // without an excerpt a link still leads to its place
      }
    }, PAUSE);
  };

  const answer = async () => {
    const query = field.value.trim();
    const ready = await index.catch(() => undefined);
    if (query !== field.value.trim()) return; // typed on since
    if (!query || !ready) {
      status.textContent = query ? "The index of the search could not be loaded." : "";
      list.replaceChildren();
      return;
    }
    const found = find(query, ready);
    say(found, query);
    fill(found);
  };
  const show = (query) => {
    field.value = query;
    field.focus();
    return answer();
  };

  /** Move the focus by arrow keys: from the field to the first link, from link to link, and back. */
  const move = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    open();
    const stops = [field, ...list.querySelectorAll("a")];
    stops[stops.indexOf(document.activeElement) + step]?.focus();
  };

  const isOutside = ({ target }) => !search.contains(target) && !button.contains(target);
  const closeIfOutside = (event) => isOutside(event) && close();

  field.addEventListener("click", open);
  field.addEventListener("input", () => {
    open();
    answer();
  });
  search.addEventListener("keydown", move);
  search.querySelector("form").addEventListener("submit", (event) => {
    event.preventDefault();
    list.querySelector("a")?.click();
  });
  search.querySelector(".search-close").addEventListener("click", leave);
  list.addEventListener("click", ({ target }) => target.closest("a") && close());
  addEventListener("focusin", closeIfOutside);
  addEventListener("pointerdown", closeIfOutside);
  addEventListener("pageshow", ({ persisted }) => persisted && close());
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !search.classList.contains("is-open")) return;
    event.preventDefault(); // a browser would empty the field
    leave();
  });
  if (field.value) answer();
  return { open, show };
}
