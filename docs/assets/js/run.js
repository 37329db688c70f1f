// Run: a session of the page becomes a text to change, and Python runs it in the reader's browser.
// What the page records stays beside what was printed now. Without this script there are no buttons.

import { overflow, parts } from "./listing.js";
import * as python from "./python.js";

const CANNOT = "This browser cannot run Python in a page. What the page records stands above.";
const STOPPED = "Stopped. What Python knew is lost; the next Run starts it again.";
const WAITING = "Waiting for the example that runs.";
const DROPPED = "Stopped before it ran.";
const FAILED =
  "Python could not be fetched, or broke down. What the page records stands; Run tries again.";

let examples = []; // of this page, in its order
let visit = 0; // counts the pages: each begins without names
const done = new Set(); // the examples whose names Python has
let turn = Promise.resolve(); // one runs after the other
let going; // the example that runs
const waiting = new Set(); // those asked for that have not begun

function make(tag, properties = {}, ...inside) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...inside);
  return element;
}

function button(words, about, act) {
  const hidden = make("span", { className: "unseen" }, ` ${about}`);
  const made = make("button", { type: "button" }, words, hidden);
  made.addEventListener("click", act);
  return made;
}

/** A printout without what no two machines share: frames of a traceback, and empty lines. */
function bare(text) {
  const said = text.replace(/^(Traceback .*\n)(?: .*\n)+/gm, "$1");
  return said.split("\n").filter((line) => line.trim()).join("\n");
}

const mega = (bytes) => (bytes / 1e6).toFixed(0);

class Example {
  constructor(listing, number) {
    this.listing = listing;
    this.name = `example ${number}`;
    this.recorded = parts(listing);
    this.group = listing.dataset.group ?? "";
    this.start = button("Run", this.name, () => ask(this));
    this.row = make("div", { className: "run" }, this.start);
    listing.append(this.row);
  }

  /** Make the listing a text to change, with what the page records below it. */
  open() {
    if (this.editor) return;
    this.editor = editor(this);
    this.stop = button("Stop", this.name, () => stop(this));
    this.reset = button("Reset", this.name, () => this.close());
    this.status = make("p", { role: "status" });
    this.output = make("code");
    const recorded = make("code", {}, this.recorded.printed);
    const prints = [printout("The page records", recorded), printout("Printed now", this.output)];
    this.row.before(this.editor);
    this.row.append(this.stop, this.reset, this.status);
    this.row.after(...prints);
    this.made = [this.editor, this.stop, this.reset, this.status, ...prints];
    this.listing.classList.add("open");
    this.busy(false);
  }

  /** Put the listing of the page back. */
  close() {
    for (const part of this.made) part.remove();
    this.editor = undefined;
    this.listing.classList.remove("open");
    this.start.focus();
  }

  busy(is) {
    this.start.ariaDisabled = is; // it keeps the focus
    this.reset.disabled = is;
    if (!is && this.stop === document.activeElement) this.start.focus();
    this.stop.hidden = !is;
  }

  say(words) {
    if (this.status.textContent !== words) this.status.textContent = words;
  }

  hear({ kind, text, arrived, expected }) {
    if (kind === "printed") this.output.append(text);
    else if (kind === "starting") this.say("Starting Python.");
    else if (kind === "running") this.say("Running.");
    else this.say(`Fetching Python, once: ${mega(arrived)} of ${mega(expected)} MB.`);
  }

  /** What the reader is to make of what was printed. */
  verdict() {
    if (this.editor.value !== this.recorded.typed) {
      const failed = /^(Traceback |\w*Error\b)/m.test(this.output.textContent);
      return `Done, as you changed it${failed ? ", with an error" : ""}.`;
    }
    const same = bare(this.output.textContent) === bare(this.recorded.printed);
    return same ? "Done: as the page records." : "Done: not as the page records.";
  }
}

function editor(example) {
  const area = make("textarea", { spellcheck: false, autocapitalize: "off", wrap: "off" });
  const fit = () => (area.rows = area.value.split("\n").length);
  area.ariaLabel = `Python of ${example.name}, for you to change`;
  area.value = example.recorded.typed;
  area.addEventListener("input", fit);
  area.addEventListener("keydown", ({ key, ctrlKey, metaKey }) => {
    if (key === "Enter" && (ctrlKey || metaKey)) ask(example);
  });
  fit();
  return area;
}

function printout(words, code) {
  overflow.observe(code);
  return make("div", { className: "printout" }, make("p", {}, words), make("pre", {}, code));
}

/** Run an example when those asked for before it have run. */
function ask(example) {
  if (example.start.ariaDisabled === "true") return;
  example.open();
  example.output.textContent = "";
  if (!python.possible) return example.say(CANNOT);
  example.busy(true);
  example.say(going ? WAITING : "");
  waiting.add(example);
  turn = turn.then(() => perform(example));
}

/** Stop an example that runs, or that waits for another. */
function stop(example) {
  if (!waiting.delete(example)) return python.stop();
  example.say(DROPPED);
  example.busy(false);
}

/** Run an example, and before it those above it that have not run, as the page has them; what these
    print is not shown. */
async function perform(example) {
  if (!waiting.delete(example)) return; // stopped, or its page has been left
  going = example;
  const above = examples.slice(0, examples.indexOf(example));
  const missing = above.filter((other) => other.group === example.group && !done.has(other));
  const hear = (message) => example.hear(message);
  const quietly = (message) => message.kind === "printed" || hear(message);
  try {
    for (const other of missing) await run(other, other.recorded.typed, quietly, quietly);
    await run(example, example.editor.value, quietly, hear);
    example.say(example.verdict());
  } catch (reason) {
    done.clear();
    example.say(reason === python.STOPPED ? STOPPED : FAILED);
  }
  going = undefined;
  example.busy(false);
}

/** Run an example, and before its first time what of the page has to go before it. */
async function run(example, text, quietly, hear) {
  const { before, module } = example.listing.dataset;
  const send = (source, heard) =>
    python.run({ source, place: example.name, group: example.group, module, visit }, heard);
  if (before && !done.has(example)) await send(decodeURIComponent(before), quietly);
  await send(text, hear);
  done.add(example);
}

/** The theme brings a page anew each time it is opened; what the last page runs is stopped. */
function open() {
  const listings = [...document.querySelectorAll(".runs")];
  waiting.clear();
  python.stop();
  visit += 1;
  done.clear();
  examples = listings.map((listing, number) => new Example(listing, number + 1));
}

window.document$.subscribe(open);
