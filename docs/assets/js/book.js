// The script of every page. It loads those that only some pages need.

import { source, watch } from "./listing.js";
import "./terms.js";

/** The scripts of parts that only some pages have, by selectors of the parts. */
const SCRIPTS = {
  "#ledger-filter": "./ledger.js",
  ".cells": "./practise.js",
  ".places": "./moved.js",
  "button.evidence": "./evidence.js",
  ".question": "./quiz.js",
  ".runs": "./run.js",
  "config-workbench": "./workbench.js",
  "encoding-plate": "./plate.js",
  "explore-clocks": "./explore/clocks.js",
  "explore-heatmap, explore-waves, explore-similarity, explore-shift": "./explore/sinusoidal.js",
  "explore-rope, explore-layouts, explore-base": "./explore/rotary.js",
  "explore-alibi, explore-t5": "./explore/bias.js",
  "watch-it-break": "./watch.js",
};

/** Load a script by an element, for which the page's `load` event waits: after it every control works. */
function addScript(script) {
  const src = new URL(script, import.meta.url);
  document.head.append(Object.assign(document.createElement("script"), { type: "module", src }));
}

const seen = { visibilityProperty: true };

/** Connect a button to one of the theme's hidden checkboxes. The panel that it opens gets the
    focus, and closes with Escape, which returns the focus, or when the focus moves elsewhere. */
function connect(button) {
  const box = document.getElementById(button.dataset.toggle);
  const enter = () => {
    const places = [...document.querySelectorAll(button.dataset.focus)];
    places.find((place) => place.checkVisibility(seen)).focus({ preventScroll: true });
  };
  const close = () => box.checked && box.click();
  box.addEventListener("change", () => button.setAttribute("aria-expanded", box.checked));
  button.addEventListener("click", () => {
    box.click();
    if (box.checked) enter();
  });
  addEventListener("focusin", ({ target }) => {
    if (!target.closest(button.dataset.panel)) close();
  });
  const leave = (event) => {
    if (event.key !== "Escape" || !box.checked) return;
    event.stopPropagation(); // the theme would drop the focus
    if (button.checkVisibility(seen)) button.focus();
    else enter();
    close();
  };
  addEventListener("keydown", leave, { capture: true });
}

/** Load the search once the reader goes to it: with the pointer, the focus, a key, or an address that
    has a query. */
function prepareSearch(search) {
  const field = search.querySelector("input");
  const button = document.querySelector(".find");
  const load = async () => (await import("./search.js")).start(search, button);
  const open = async () => {
    search.classList.add("is-open"); // at once, so that the next keys go to the field and not to the theme
    field.focus();
    (await load()).open();
  };
  search.addEventListener("pointerover", load, { once: true });
  field.addEventListener("focus", open, { once: true });
  removeEventListener("keydown", window.openEarly, { capture: true }); // of partials/search.html
  if (document.activeElement === field) open();
  button.addEventListener("click", open);
  addEventListener("keydown", (event) => {
    const isTyping = event.target.closest("input, select, textarea, [contenteditable]");
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!["/", "f", "s"].includes(event.key)) return;
    event.preventDefault();
    open();
  });
  const query = new URLSearchParams(location.search).get("q");
  if (query) open().then(() => load()).then(({ show }) => show(query));
}

function addCopyButton(listing) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(source(listing));
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
  listing.append(button);
}

const scrollers = "article :is(.scroll, div.arithmatex, pre > code)";

/** Watch every element that may scroll sideways in a part of the page, and the part itself. */
function watchAll(part) {
  if (part.matches(scrollers)) watch(part);
  part.querySelectorAll(scrollers).forEach(watch);
}

const navLabels = ".md-nav--primary label:is(.md-nav__title, .md-nav__link--active)";

function preparePage() {
  watchAll(document.body);
  // The theme handles Enter on these labels, but Tab does not reach them.
  for (const label of document.querySelectorAll(navLabels)) label.tabIndex = 0;
  if (!navigator.clipboard) return;
  document.querySelectorAll("article .highlight").forEach(addCopyButton);
}

/** Show the formal statements that a fold names once it is opened. */
function prepareFormal(fold) {
  fold.addEventListener("toggle", async () => (await import("./formal.js")).fill(fold), { once: true });
}

/** Close the menu when a link leads to the place that the address has already: the theme closes it only
    if the address changes. */
function closeMenu({ target }) {
  const link = target.closest?.("a[href]");
  if (!link?.hash || link.pathname !== location.pathname) return;
  if (link.hash === location.hash) dispatchEvent(new Event("hashchange"));
}

/** In the menu of a narrow screen, open a closed part in place. */
async function unfoldPart(event) {
  const link = event.target.closest?.(".md-nav__item--pruned > a");
  const isPlain = !event.ctrlKey && !event.metaKey && !event.shiftKey;
  if (!link || !isPlain || !document.querySelector(".menu").checkVisibility()) return;
  event.preventDefault();
  (await import("./menu.js")).unfold(link);
}

/** A page that the browser has kept is shown again as it was left: close its menu, and give it the
    colours that other pages have chosen since. */
function refresh({ persisted }) {
  if (!persisted) return;
  document.querySelector("#__drawer:checked")?.click();
  const { scheme } = window.__md_get("__palette").color;
  if (scheme !== document.body.dataset.mdColorScheme) {
    document.querySelector(`[name=__palette][data-md-color-scheme=${scheme}]`).click();
  }
}

/** Before printing, load every picture and open every solution; evidence stays folded. */
function prepareToPrint() {
  for (const image of document.querySelectorAll("img[loading=lazy]")) image.loading = "eager";
  for (const closed of document.querySelectorAll("article details:not([open], .checked)")) {
    closed.open = true;
    addEventListener("afterprint", () => (closed.open = false), { once: true });
  }
}

/** The explorer that the address has a view of: the first whose name stands before a point, as in
    `rope.width=2`. */
function viewed() {
  const names = [...new URLSearchParams(location.search).keys()].map((key) => key.split(".")[0]);
  const tags = names.map((name) => (name === "watch" ? "watch-it-break" : `explore-${name}`));
  return tags.map((tag) => document.getElementsByTagName(tag)[0]).find(Boolean);
}

/** Open a shared view at its explorer, unless all of that is in sight. A page that is reloaded, or
    gone back to, stays where it was. */
function showView() {
  const [visit] = performance.getEntriesByType("navigation");
  const place = location.hash || visit?.type !== "navigate" ? undefined : viewed();
  if (!place) return;
  document.documentElement.classList.remove("unrolls"); // the target would move otherwise
  if (place.getBoundingClientRect().bottom > innerHeight) place.scrollIntoView({ behavior: "instant" });
}

document.querySelectorAll("[data-toggle]").forEach(connect);
document.querySelectorAll(".search").forEach(prepareSearch);
document.querySelectorAll("details.formal").forEach(prepareFormal);
addEventListener("click", closeMenu);
addEventListener("click", unfoldPart);
addEventListener("pageshow", refresh);
addEventListener("beforeprint", prepareToPrint);
// A font that loads late can widen a formula without resizing its box.
document.fonts.addEventListener("loadingdone", () => watchAll(document.body));
preparePage();
showView();
for (const [part, script] of Object.entries(SCRIPTS)) if (document.querySelector(part)) addScript(script);
