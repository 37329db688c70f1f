// A listing of the page: what was typed in it, and what the page says it printed.

/** Return what stands after the prompts of a session, and what stands between them; a listing
    without prompts was typed as it stands. */
export function parts(listing) {
  const text = listing.querySelector("pre > code").textContent;
  if (!/^>>> /m.test(text)) return { typed: text, printed: "" };
  const [typed, printed] = [[], []];
  let prompted = false;
  for (const line of text.split("\n")) {
    prompted = line.startsWith(">>> ") || (prompted && /^\.\.\.( |$)/.test(line));
    if (!prompted) printed.push(line);
    else if (line.slice(4).trim()) typed.push(line.slice(4));
  }
  return { typed: typed.join("\n"), printed: printed.join("\n").trimEnd() };
}

/** Return what is worth pasting, or running: what the reader has made of it, if he has. */
export function source(listing) {
  return listing.querySelector("textarea")?.value ?? parts(listing).typed;
}

/** Return how much a box has to show in all, and how much of that is hidden on its right. */
function measure(box) {
  const beyond = box.scrollWidth - box.clientWidth;
  return { box, beyond, hidden: beyond - box.scrollLeft };
}

/** Mark what has more to show on the right; the style fades its edge. */
function markMore({ box, hidden }) {
  box.toggleAttribute("data-more", hidden > 1);
}

/** What scrolls sideways can be reached with the keyboard, and only while it scrolls. All are
    measured before any is changed: each change would have the page laid out anew for the next. */
export const overflow = new ResizeObserver((entries) => {
  for (const measured of entries.map(({ target }) => measure(target))) {
    const { box, beyond } = measured;
    if (beyond > 0) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
    box.onscroll = () => markMore(measure(box));
    markMore(measured);
  }
});
