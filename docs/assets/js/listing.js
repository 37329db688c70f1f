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

/** What waits to be laid out (book.js), as its box or in a box that waits, has no width to go by. */
function isLaidOut(box) {
  return (box.firstElementChild ?? box).checkVisibility({ contentVisibilityAuto: true });
}

/** What scrolls sideways can be reached with the keyboard, and what is laid out only while it
    scrolls. All are measured before any is changed: each change would have the page laid out anew
    for the next. */
export const overflow = new ResizeObserver((entries) => {
  const boxes = entries.map(({ target }) => target).filter(isLaidOut);
  for (const measured of boxes.map(measure)) {
    const { box, beyond } = measured;
    if (beyond > 0) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
    box.onscroll = () => markMore(measure(box));
    markMore(measured);
  }
});

/** Let a box be reached until it is known whether it scrolls, and whenever its width changes. */
export function watch(box) {
  box.tabIndex = 0;
  overflow.unobserve(box); // or what has been measured would not be again
  overflow.observe(box);
}
