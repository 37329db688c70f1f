// What every page wants of a script. The theme changes pages without loading them anew and says so
// through `document$`; what stands in the header stays.

import { startLedger } from "./ledger.js";
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

/** What is worth pasting: a listing as it is, and of a session what was typed. */
function typed(code) {
  const copy = code.cloneNode(true);
  const session = copy.querySelector(".gp") !== null;
  for (const part of copy.querySelectorAll(".gp, .go, .gt, .gr")) part.remove();
  const lines = copy.textContent.split("\n");
  return session ? lines.filter((line) => line.trim()).join("\n") : copy.textContent;
}

function addCopyButton(listing) {
  const code = listing.querySelector("pre > code");
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(typed(code));
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
  listing.append(button);
}

const scrollers = "article :is(.scroll, div.arithmatex, pre > code)";

const turns = ".md-nav--primary label:is(.md-nav__title, .md-nav__link--active)";

/** Mark what has more to show on the right; the style fades its edge. */
function markMore(box) {
  const hidden = box.scrollWidth - box.clientWidth - box.scrollLeft;
  box.toggleAttribute("data-more", hidden > 1);
}

/** What scrolls sideways can be reached with the keyboard, and only while it scrolls. */
const overflow = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
    target.onscroll = () => markMore(target);
    markMore(target);
  }
});

function dress() {
  overflow.disconnect();
  for (const part of document.querySelectorAll(scrollers)) overflow.observe(part);
  // The theme works these by Enter, and leaves them out of the order of Tab.
  for (const label of document.querySelectorAll(turns)) label.tabIndex = 0;
  if (!navigator.clipboard) return;
  for (const listing of document.querySelectorAll("article .highlight")) {
    if (!listing.querySelector(".copy")) addCopyButton(listing);
  }
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
window.document$.subscribe(dress);
window.document$.subscribe(startLedger);
