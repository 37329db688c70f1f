// The search box: opens and closes its panel, and shows what the reader's words find.

import { excerpt, marked } from "./search/excerpt.js";
import { find, unpack } from "./search/engine.js";

const ROOT = new URL("../../", import.meta.url);
const PAGES = 8; // how many pages are shown
const SECTIONS = 3; // and of each, how many sections
const NEAR = 0.4; // a further section is shown if its score is this share of the page's best one

/** Fetch a file of the search. */
async function fetched(name) {
  const answer = await fetch(new URL(`search/${name}.json`, ROOT));
  if (!answer.ok) throw new Error(`search/${name}.json: ${answer.status}`);
  return answer.json();
}

const texts = new Map();

/** Return the sentences of a page by the anchors of its sections. */
function sentencesOf(path) {
  if (!texts.has(path)) texts.set(path, fetched(path.slice(0, -1) || "home"));
  return texts.get(path);
}

function element(name, kind, ...content) {
  const made = document.createElement(name);
  if (kind) made.className = kind;
  made.append(...content);
  return made;
}

/** Return words with those that were found marked. */
function withMarks(text, terms) {
  return marked(text, terms).map(([part, isFound]) => (isFound ? element("mark", "", part) : part));
}

/** Return the link to a section, which gets its excerpt when the sentences of the page have come. The
    link also names the sentence, so that the browser shows the place of it. */
function link(page, { anchor, heading }, isFirst, terms) {
  const made = element("a");
  const address = new URL(page.path + (anchor ? `#${anchor}` : ""), ROOT);
  made.href = address;
  if (isFirst) made.append(element("span", "search-title", ...withMarks(page.title, terms)));
  if (anchor) made.append(element("span", "search-heading", ...withMarks(heading, terms)));
  const shown = element("span", "search-excerpt");
  made.append(shown);
  sentencesOf(page.path).then(
    (sentences) => {
      const found = excerpt(sentences[anchor] ?? [], terms);
      shown.append(...withMarks(found.text, terms));
      if (found.fragment) made.href = `${address}${anchor ? "" : "#"}:~:text=${found.fragment}`;
    },
    () => {}, // without an excerpt the link still leads to its place
  );
  return made;
}

function item(page, terms) {
  const near = page.sections.filter(({ score }) => score >= NEAR * page.sections[0].score);
  const links = near.slice(0, SECTIONS).map((section, place) => link(page, section, !place, terms));
  return element("li", "", ...links);
}

let started;

/** Start the search, once, and return how to open it and how to show a query. */
export function start(search, button) {
  return (started ??= connected(search, button));
}

function connected(search, button) {
  const [field, status, list] = ["field", "status", "found"].map((name) => search.querySelector(`.search-${name}`));
  const seen = { visibilityProperty: true };
  const index = fetched("index").then(unpack);
  const isOpen = () => search.classList.contains("is-open");

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
    close();
    if (button.checkVisibility(seen)) button.focus();
    else if (document.activeElement !== field) field.focus();
  };

  /** Say how a query was read: what the book does not have, and which word is meant instead. */
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
      status.replaceChildren(`Nothing found for “${query}”. Here are the `, words, ".");
    } else status.textContent = pages.length === 1 ? "1 page" : `${pages.length} pages`;
  };

  const answer = async () => {
    const query = field.value.trim();
    const ready = await index.catch(() => undefined);
    if (query !== field.value.trim()) return; // typed on since
    if (!query) {
      status.replaceChildren();
      list.replaceChildren();
    } else if (!ready) status.textContent = "The index of the search could not be loaded.";
    else {
      const found = find(query, ready);
      say(found, query);
      list.replaceChildren(...found.pages.slice(0, PAGES).map((page) => item(page, found.terms)));
      search.querySelector(".search-panel").scrollTop = 0;
    }
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
    const stops = [field, ...list.querySelectorAll("a")];
    const next = stops[stops.indexOf(document.activeElement) + step];
    event.preventDefault();
    next?.focus();
  };

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
  addEventListener("focusin", ({ target }) => !search.contains(target) && target !== button && close());
  addEventListener("pointerdown", ({ target }) => !search.contains(target) && target !== button && close());
  addEventListener("pageshow", ({ persisted }) => persisted && close());
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !isOpen()) return;
    event.preventDefault(); // a browser would empty the field
    leave();
  });
  if (field.value) answer();
  return { open, show };
}
