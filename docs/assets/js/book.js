// What every page wants of a script. The theme changes pages without loading them anew and says so
// through `document$`; what stands in the header stays.

import "./plate.js";

/** Let a button work one of the theme's hidden switches: into what it opens, and back by Escape. */
function connect(button) {
  const box = document.getElementById(button.dataset.toggle);
  box.addEventListener("change", () => button.setAttribute("aria-expanded", box.checked));
  button.addEventListener("click", () => {
    box.click();
    if (box.checked) document.querySelector(button.dataset.focus).focus({ preventScroll: true });
  });
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || button.getAttribute("aria-expanded") !== "true") return;
    if (box.checked) box.click();
    button.focus();
  });
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

const scrollers = "article :is(.scroll, .md-typeset__scrollwrap, div.arithmatex, pre > code)";

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
addEventListener("beforeprint", unfold);
window.document$.subscribe(dress);
