// The switch in the header that shows and hides the evidence: the lines and folds with tests, theorems
// and claims of the ledger. The choice holds for all pages: main.html applies it before a page is shown.

const KEY = "__evidence";
const button = document.querySelector("button.evidence");

function show(isShown) {
  document.documentElement.classList.toggle("hides-evidence", !isShown);
  button.setAttribute("aria-pressed", isShown);
}

/** Show the evidence if the address leads into it, with its folds open. */
function showTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target?.closest(".checked")) return;
  show(true);
  for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) {
    fold.open = true;
  }
  target.scrollIntoView();
}

function showChoice() {
  show(Boolean(window.__md_get(KEY)));
  showTarget();
}

button.addEventListener("click", () => {
  const isShown = button.getAttribute("aria-pressed") === "false";
  window.__md_set(KEY, isShown);
  show(isShown);
});
addEventListener("hashchange", showTarget);
// A page that the browser has kept gets the choice that other pages have changed since.
addEventListener("pageshow", ({ persisted }) => persisted && showChoice());
showChoice();
