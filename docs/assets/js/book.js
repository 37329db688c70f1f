// The script of every page. The theme replaces pages without reloading and announces it through
// `document$`; the header stays in place.

import { startLedger } from "./ledger.js";
import { overflow, source, watch } from "./listing.js";
import "./plate.js";
import "./quiz.js";
import "./terms.js";

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
    setTimeout(close, 10); // the theme opens the search shortly after its field gets the focus
  };
  addEventListener("keydown", leave, { capture: true });
}

/** Let Tab move through the search results, where the theme would close the search; typing reopens
    it. */
function makeResultsReachable(search) {
  search.addEventListener("keydown", (event) => {
    if (["Tab", "Shift"].includes(event.key)) event.stopPropagation();
  });
  search.addEventListener("input", () => {
    const box = document.getElementById("__search");
    if (!box.checked) box.click();
  });
  const found = search.querySelector(".md-search-result__list");
  const open = () => {
    for (const part of found.querySelectorAll("[tabindex]")) part.removeAttribute("tabindex");
    // The theme marks the other names of a result as navigation.
    for (const names of found.querySelectorAll("nav")) names.role = "presentation";
  };
  new MutationObserver(open).observe(found, { childList: true });
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
  overflow.disconnect();
  watchAll(document.body);
  // The theme handles Enter on these labels, but Tab does not reach them.
  for (const label of document.querySelectorAll(navLabels)) label.tabIndex = 0;
  if (!navigator.clipboard) return;
  for (const listing of document.querySelectorAll("article .highlight")) {
    if (!listing.querySelector(".copy")) addCopyButton(listing);
  }
}

/** Load the script for *Run* if the page has runnable examples; Python loads at the first run. */
function startRuns() {
  if (document.querySelector(".runs")) import("./run.js");
}

const FAMILIES = {
  clocks: ["clocks"],
  sinusoidal: ["heatmap", "waves", "similarity", "shift"],
  rotary: ["rope", "layouts", "base"],
  bias: ["alibi", "t5"],
};

/** Load the scripts of the explorers on the page. */
function startExplorers() {
  for (const [family, names] of Object.entries(FAMILIES)) {
    const tags = names.map((name) => `explore-${name}`);
    if (document.querySelector(tags)) import(`./explore/${family}.js`);
  }
}

/** Load the script of the workbench if the page has one. */
function startWorkbench() {
  if (document.querySelector("config-workbench")) import("./workbench.js");
}

/** Load the script of the exercises if the page has some; Python loads at the first check. */
function startPractise() {
  if (document.querySelector(".cells")) import("./practise.js");
}

/** Load the script of *Watch it break* if the page has it; the weights wait until they are asked for. */
function startWatch() {
  if (document.querySelector("watch-it-break")) import("./watch.js");
}

/** Show the formal statements that a fold names once it is opened. */
function startFormal() {
  for (const fold of document.querySelectorAll("details.formal")) {
    fold.addEventListener("toggle", async () => (await import("./formal.js")).fill(fold), { once: true });
  }
}

/** Lay out the parts whose layout the style sheet defers, in a few idle periods: each also takes time
 * for the page as a whole, so many small steps would keep the browser busy for longer. */
function layOutDeferred() {
  const parts = [...document.querySelectorAll(".unrolls .md-content__inner > h2 ~ *")];
  const idle = window.requestIdleCallback ?? setTimeout;
  const next = () => {
    if (!document.querySelector(".unrolls")) return; // a jump has laid out everything
    for (const part of parts.splice(0, 60)) part.style.contentVisibility = "visible";
    if (parts.length) idle(next);
  };
  idle(next);
}

/** Before printing, load every picture and open every solution; tests and claims stay folded. */
function prepareToPrint() {
  for (const image of document.querySelectorAll("img[loading=lazy]")) image.loading = "eager";
  for (const closed of document.querySelectorAll("article details:not([open], .checked, .ledger)")) {
    closed.open = true;
    addEventListener("afterprint", () => (closed.open = false), { once: true });
  }
}

document.querySelectorAll("[data-toggle]").forEach(connect);
document.querySelectorAll(".md-search").forEach(makeResultsReachable);
addEventListener("beforeprint", prepareToPrint);
addEventListener("load", layOutDeferred);
// A font that loads late can widen a formula without resizing its box.
document.fonts.addEventListener("loadingdone", () => watchAll(document.body));
// The layout of a part can be deferred again, for example when the window gets narrower.
addEventListener("contentvisibilityautostatechange", ({ target, skipped }) => {
  if (skipped) watchAll(target);
});
window.document$.subscribe(preparePage);
window.document$.subscribe(startExplorers);
window.document$.subscribe(startWorkbench);
window.document$.subscribe(startWatch);
window.document$.subscribe(startFormal);
window.document$.subscribe(startLedger);
window.document$.subscribe(startRuns);
window.document$.subscribe(startPractise);
