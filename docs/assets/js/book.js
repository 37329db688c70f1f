// What every page wants of a script. The theme changes pages without loading them anew and says so
// through `document$`; what stands in the header stays.

import { startLedger } from "./ledger.js";
import { overflow, source, watch } from "./listing.js";
import "./plate.js";
import "./quiz.js";

const seen = { visibilityProperty: true };

/** Let a button work one of the theme's hidden switches. What it opens takes the focus, and closes
    by Escape, which leads back, or when the focus goes elsewhere. */
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
    setTimeout(close, 10); // the theme opens its search a moment after the field has the focus
  };
  addEventListener("keydown", leave, { capture: true });
}

/** Tab leads through what a search has found, where the theme would close it; typing reopens it. */
function walk(search) {
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

/** Watch all that may scroll sideways in a part of the page, or is that part. */
function watchAll(part) {
  if (part.matches(scrollers)) watch(part);
  part.querySelectorAll(scrollers).forEach(watch);
}

const turns = ".md-nav--primary label:is(.md-nav__title, .md-nav__link--active)";

function dress() {
  overflow.disconnect();
  watchAll(document.body);
  // The theme works these by Enter, and leaves them out of the order of Tab.
  for (const label of document.querySelectorAll(turns)) label.tabIndex = 0;
  if (!navigator.clipboard) return;
  for (const listing of document.querySelectorAll("article .highlight")) {
    if (!listing.querySelector(".copy")) addCopyButton(listing);
  }
}

/** A page that has something to run fetches the script for it, and Python only when asked. */
function startRuns() {
  if (document.querySelector(".runs")) import("./run.js");
}

const FAMILIES = {
  sinusoidal: ["heatmap", "waves", "similarity", "shift"],
  rotary: ["rope", "layouts", "base"],
  bias: ["alibi", "t5"],
};

/** A page that has explorers fetches the scripts of their families, and no other page does. */
function startExplorers() {
  for (const [family, names] of Object.entries(FAMILIES)) {
    const tags = names.map((name) => `explore-${name}`);
    if (document.querySelector(tags)) import(`./explore/${family}.js`);
  }
}

/** Lay out what the style lets wait, a few parts at a time, before the reader comes to it. */
function unroll() {
  const parts = [...document.querySelectorAll(".unrolls .md-content__inner > h2 ~ *")];
  const idle = window.requestIdleCallback ?? setTimeout;
  const next = () => {
    if (!document.querySelector(".unrolls")) return; // a jump has had all laid out
    for (const part of parts.splice(0, 6)) part.style.contentVisibility = "visible";
    if (parts.length) idle(next);
  };
  idle(next);
}

/** The first page may wait; those that follow it come whole. */
function turnPage() {
  if (turnPage.before) document.documentElement.classList.remove("unrolls");
  turnPage.before = true;
}

/** On paper every picture is there and every solution open. */
function unfold() {
  for (const image of document.querySelectorAll("img[loading=lazy]")) image.loading = "eager";
  for (const closed of document.querySelectorAll("article details:not([open])")) {
    closed.open = true;
    addEventListener("afterprint", () => (closed.open = false), { once: true });
  }
}

document.querySelectorAll("[data-toggle]").forEach(connect);
document.querySelectorAll(".md-search").forEach(walk);
addEventListener("beforeprint", unfold);
addEventListener("load", unroll);
// A typeface that comes late widens a formula, and not the box that it then scrolls in.
document.fonts.addEventListener("loadingdone", () => watchAll(document.body));
// What has been laid out may have to wait again, as where a window grows narrow.
addEventListener("contentvisibilityautostatechange", ({ target, skipped }) => {
  if (skipped) watchAll(target);
});
window.document$.subscribe(turnPage);
window.document$.subscribe(dress);
window.document$.subscribe(startExplorers);
window.document$.subscribe(startLedger);
window.document$.subscribe(startRuns);
