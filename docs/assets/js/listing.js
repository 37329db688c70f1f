// Listings: their input, the output printed on the page, and sideways scrolling.

/** Return the input and the output of a session; a listing without prompts is input only. */
export function parts(listing) {
  const text = listing.querySelector("pre > code").textContent;
  const [first, further] = listing.matches(".language-console") ? ["$ ", "> "] : [">>> ", "... "];
  if (!`\n${text}`.includes(`\n${first}`)) return { typed: text, printed: "" };
  const [typed, printed] = [[], []];
  let prompted = false;
  for (const line of text.split("\n")) {
    prompted = line.startsWith(first) || (prompted && `${line} `.startsWith(further));
    const input = line.slice(first.length);
    if (!prompted) printed.push(line);
    else if (input.trim()) typed.push(input);
  }
  return { typed: typed.join("\n"), printed: printed.join("\n").trimEnd() };
}

/** Return the code to copy or run: the input, as edited by the reader. */
export function source(listing) {
  return listing.querySelector("textarea")?.value ?? parts(listing).typed;
}

/** Return by how much the content of a box exceeds its width, and how much is hidden on the
    right. */
function measure(box) {
  const beyond = box.scrollWidth - box.clientWidth;
  return { box, beyond, hidden: beyond - box.scrollLeft };
}

/** Mark a box with hidden content on the right; the style sheet fades its edge. */
function markMore({ box, hidden }) {
  box.toggleAttribute("data-more", hidden > 1);
}

/** Return whether a box is laid out; while its layout is deferred (book.js), it has no width. */
function isLaidOut(box) {
  return (box.firstElementChild ?? box).checkVisibility({ contentVisibilityAuto: true });
}

/** Makes boxes focusable if they scroll sideways, and only then, once they are laid out. All boxes
    are measured before any is changed, because each change would force another layout. */
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

/** Make a box focusable until it has been measured, and measure it whenever its width changes. */
export function watch(box) {
  box.tabIndex = 0;
  overflow.unobserve(box); // otherwise it would not be measured again
  overflow.observe(box);
}
