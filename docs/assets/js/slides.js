// The slides: shows one board at a time, step by step, by keyboard, click and swipe. Without this
// script all boards stand one under another.

const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const one = (selector) => document.querySelector(selector);

const slides = all("main > section");
// On phones, upright or not, the drawings stand at once, and a board scrolls as a whole.
const narrow = matchMedia("(max-width: 44.98em), (max-height: 30em)");
const other = "BroadcastChannel" in window ? new BroadcastChannel("slides") : null;
const ASKED = "where";
const kept = "slides begun";
let at = 0;
let step = 0;
let begun = 0; // when the clock was started, in milliseconds

/** The steps of one item of a board: those of a drawing, otherwise one. */
function stepsOf(item) {
  const strokes = all("[data-step]", item);
  if (narrow.matches || !strokes.length) return 1;
  return 1 + Math.max(...strokes.map((stroke) => +stroke.dataset.step));
}

const items = (slide) => all(".item", slide);
const steps = (slide) => items(slide).reduce((sum, item) => sum + stepsOf(item), 0);

/** Show a drawing up to a step, and let that step draw itself. */
function draw(item, upTo, isDrawn) {
  for (const stroke of all("[data-step]", item)) {
    const mine = +stroke.dataset.step;
    stroke.classList.toggle("waits", !narrow.matches && mine > upTo);
    stroke.classList.toggle("draws", isDrawn && mine === upTo);
  }
}

/** Show a slide up to a step; with `isDrawn` the step draws itself. */
function show(nextSlide, nextStep, { isDrawn = true, isSent = true } = {}) {
  at = Math.max(0, Math.min(nextSlide, slides.length - 1));
  const slide = slides[at];
  step = Math.max(0, Math.min(nextStep, steps(slide) - 1));
  for (const each of slides) each.hidden = each !== slide;
  let left = step;
  for (const item of items(slide)) {
    const count = stepsOf(item);
    const wasHidden = item.hidden;
    item.hidden = left < 0;
    item.classList.toggle("comes", wasHidden && isDrawn && left === 0);
    draw(item, Math.min(left, count - 1), isDrawn && left >= 0 && left < count);
    if (item.matches("details")) item.open = true;
    left -= count;
  }
  slide.classList.toggle("asks", all(".ask:not([hidden])", slide).length > 0);
  slide.classList.toggle("two", all(".figure:not([hidden])", slide).length > 1);
  sayWhere(slide);
  one("[data-key=notes]").disabled = !slide.querySelector(".notes");
  items(slide).findLast((item) => !item.hidden).scrollIntoView({ block: "nearest" });
  reach();
  if (isSent) other?.postMessage({ at, step });
}

/** Let the keyboard reach the parts of the slide that scroll, and no others. */
function reach() {
  for (const part of all(".up, .drawn, .asked, details.notes, pre > code", slides[at])) {
    const isLarger = part.scrollHeight > part.clientHeight + 1 || part.scrollWidth > part.clientWidth;
    if (isLarger) part.tabIndex = 0;
    else part.removeAttribute("tabindex");
  }
}

/** Write the place into the bar and the address. */
function sayWhere(slide) {
  const { minutes, until } = slide.dataset;
  const board = `Board ${at + 1} of ${slides.length - 1}`;
  one(".place [role=status]").textContent = minutes ? board : "To take away";
  one(".until").textContent = minutes ? `: ${minutes} minutes, until ${until}` : "";
  all(".hour a").forEach((link, n) => {
    link.classList.toggle("done", n < at);
    if (n === at) link.setAttribute("aria-current", "step");
    else link.removeAttribute("aria-current");
  });
  const hash = `#${slide.id}`;
  if (location.hash !== hash) history.replaceState(null, "", hash);
}

function on() {
  if (!begun) startClock();
  if (step + 1 < steps(slides[at])) show(at, step + 1);
  else if (at + 1 < slides.length) show(at + 1, 0);
}

function back() {
  if (step > 0) show(at, step - 1, { isDrawn: false });
  else if (at > 0) show(at - 1, Infinity, { isDrawn: false });
}

/** Keep the time in this tab, so that it survives a reload. */
function startClock(time = Date.now()) {
  begun = time;
  try {
    sessionStorage.setItem(kept, begun);
  } catch {
    // storage may be forbidden
  }
  tick();
}

function tick() {
  const seconds = begun ? Math.floor((Date.now() - begun) / 1000) : 0;
  one(".clock span").textContent = `${Math.floor(seconds / 60)}:${`${seconds % 60}`.padStart(2, "0")}`;
  const whole = all("[data-minutes]").reduce((sum, { dataset }) => sum + +dataset.minutes, 0);
  one(".hour").style.setProperty("--gone", begun ? Math.min(1, seconds / 60 / whole) : 0);
}

function notes() {
  if (one("[data-key=notes]").disabled) return;
  const isOpen = document.documentElement.classList.toggle("notes");
  one("[data-key=notes]").setAttribute("aria-pressed", isOpen);
  for (const fold of all("details.notes")) fold.open = isOpen;
  reach();
}

/** Close the notes; without notes, leave the slides. */
function escape() {
  const { disabled } = one("[data-key=notes]");
  if (!disabled && document.documentElement.classList.contains("notes")) notes();
  else one("[data-key=leave]").click();
}

function keys() {
  const dialog = one("#keys");
  if (dialog.open) dialog.close();
  else dialog.showModal();
}

function colours(isDark) {
  document.body.dataset.mdColorScheme = isDark ? "slate" : "default";
}

const isDark = () => document.body.dataset.mdColorScheme === "slate";

/** Begin with the colours of the book, or of the system. */
function firstColours() {
  const place = `${new URL("../..", location).pathname}.__palette`;
  let chosen = null;
  try {
    chosen = JSON.parse(localStorage.getItem(place));
  } catch {
    // storage may be forbidden
  }
  colours(chosen ? chosen.index > 0 : matchMedia("(prefers-color-scheme: dark)").matches);
}

const KEYS = {
  ArrowRight: on,
  " ": on,
  PageDown: on,
  Enter: on,
  ArrowLeft: back,
  PageUp: back,
  Backspace: back,
  Home: () => show(0, 0),
  End: () => show(slides.length - 1, 0),
  n: notes,
  c: () => startClock(),
  d: () => colours(!isDark()),
  "?": keys,
  Escape: escape,
};

function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (one("#keys").open && event.key !== "?") return;
  // A control that has the focus keeps the keys that press it.
  if ([" ", "Enter"].includes(event.key) && event.target.closest("button, a, summary")) return;
  const board = /^[1-9]$/.test(event.key) ? () => show(event.key - 1, 0) : null;
  const act = board ?? KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!act) return;
  event.preventDefault();
  if (event.key === " " && event.shiftKey) back();
  else act();
}

/** Turn by a click: the left third goes back. */
function click({ target, clientX, currentTarget }) {
  if (target.closest("a, button, summary, .notes, pre") || !getSelection().isCollapsed) return;
  const { left, width } = currentTarget.getBoundingClientRect();
  if (clientX - left < width / 3) back();
  else on();
}

let touched = null;
function lift({ changedTouches: [touch] }) {
  if (!touched) return;
  const across = touch.clientX - touched.clientX;
  const down = touch.clientY - touched.clientY;
  touched = null;
  if (Math.abs(across) < 50 || Math.abs(across) < 2 * Math.abs(down)) return;
  if (across < 0) on();
  else back();
}

/** Lay out everything once, so that all fonts load now and not in a room without a network. */
function fetchFonts() {
  const folds = all("main details");
  for (const fold of folds) fold.open = true;
  document.body.getBoundingClientRect();
  for (const fold of folds) fold.open = false;
}

/** Show the slide that the address names: after a change of it by the reader, in all windows. */
function fromAddress(change) {
  const place = slides.findIndex(({ id }) => `#${id}` === location.hash);
  show(Math.max(0, place), 0, { isSent: Boolean(change) });
}

/** Turn as another window does, or tell one that has just been opened where this one is. */
function hear({ data }) {
  if (data === ASKED) other.postMessage({ at, step });
  else show(data.at, data.step, { isSent: false });
}

fetchFonts();
document.documentElement.classList.add("runs");
firstColours();
addEventListener("keydown", press);
addEventListener("hashchange", fromAddress);
one("main").addEventListener("click", click);
one("main").addEventListener("touchstart", (event) => ([touched] = event.changedTouches), { passive: true });
one("main").addEventListener("touchend", lift, { passive: true });
for (const [name, act] of Object.entries({ on, back, notes, keys })) {
  one(`[data-key=${name}]`).addEventListener("click", act);
}
addEventListener("resize", reach);
narrow.addEventListener("change", () => show(at, step, { isDrawn: false }));
other?.addEventListener("message", hear);
try {
  begun = +sessionStorage.getItem(kept);
} catch {
  // storage may be forbidden
}
tick();
setInterval(tick, 1000);
if (!location.hash) other?.postMessage(ASKED);
fromAddress();
// The link to the handout, which is what the slides are on paper.
if (new URLSearchParams(location.search).has("print")) addEventListener("load", () => print());
