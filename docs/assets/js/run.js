// Run: makes a session on the page editable, and runs it with Python in the reader's browser. The
// output recorded on the page stays visible next to the new one. Without this script there are no
// buttons.

import { overflow, parts, watch } from "./listing.js";
import * as python from "./python.js";

const CANNOT = "This browser cannot run Python in a page. The recorded output stays above.";
const STOPPED = "Stopped. Python's variables are lost; the next Run starts it again.";
const WAITING = "Waiting for the running example.";
const DROPPED = "Stopped before running.";
const FAILED =
  "Python could not be fetched, or it crashed. The recorded output stays; Run tries again.";

const done = new Set(); // the examples that have run
let queue = Promise.resolve(); // examples run one after another
let running; // the example that is running
const waiting = new Set(); // examples in the queue

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

/** An output without the parts that differ between machines: traceback frames and empty lines. */
function comparable(text) {
  const output = text.replace(/^(Traceback .*\n)(?: .*\n)+/gm, "$1");
  return output.split("\n").filter((line) => line.trim()).join("\n");
}

const megabytes = (bytes) => (bytes / 1e6).toFixed(0);

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

  /** Make the listing editable, with the recorded output below it. */
  open() {
    if (this.editor) return;
    this.editor = editor(this);
    this.stop = button("Stop", this.name, () => stop(this));
    this.reset = button("Reset", this.name, () => this.close());
    this.status = make("p", { role: "status" });
    this.output = make("code");
    const recorded = make("code", {}, this.recorded.printed);
    const prints = [printout("Recorded output", recorded), printout("New output", this.output)];
    this.row.before(this.editor);
    this.row.append(this.stop, this.reset, this.status);
    this.row.after(...prints);
    this.made = [this.editor, this.stop, this.reset, this.status, ...prints];
    this.listing.classList.add("open");
    this.busy(false);
  }

  /** Restore the listing. */
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
    else this.say(`Fetching Python, once: ${megabytes(arrived)} of ${megabytes(expected)} MB.`);
  }

  /** How the new output compares with the recorded one, in words. */
  verdict() {
    if (this.editor.value !== this.recorded.typed) {
      const failed = /^(Traceback |\w*Error\b)/m.test(this.output.textContent);
      return `Done, with your changes${failed ? " and an error" : ""}.`;
    }
    const same = comparable(this.output.textContent) === comparable(this.recorded.printed);
    return same ? "Done: the output is as recorded." : "Done: the output differs from the recorded one.";
  }
}

function editor(example) {
  const area = make("textarea", { spellcheck: false, autocapitalize: "off", wrap: "off" });
  const fit = () => {
    area.rows = area.value.split("\n").length;
    watch(area);
  };
  area.ariaLabel = `Editable Python code of ${example.name}`;
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

/** Put an example into the queue. */
function ask(example) {
  if (example.start.ariaDisabled === "true") return;
  example.open();
  example.output.textContent = "";
  if (!python.possible) return example.say(CANNOT);
  example.busy(true);
  example.say(running ? WAITING : "");
  waiting.add(example);
  queue = queue.then(() => perform(example));
}

/** Stop an example that is running or waiting. */
function stop(example) {
  if (!waiting.delete(example)) return python.stop();
  example.say(DROPPED);
  example.busy(false);
}

/** Run an example after those above it that have not run; these run unedited, without showing their
    output. */
async function perform(example) {
  if (!waiting.delete(example)) return; // stopped
  running = example;
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
  running = undefined;
  example.busy(false);
}

/** Run an example, preceded the first time by the hidden statements that it depends on. */
async function run(example, text, quietly, hear) {
  const { before, module } = example.listing.dataset;
  const send = (source, heard) =>
    python.run({ source, place: example.name, group: example.group, module }, heard);
  if (before && !done.has(example)) await send(decodeURIComponent(before), quietly);
  await send(text, hear);
  done.add(example);
}

const listings = [...document.querySelectorAll(".runs")];
const examples = listings.map((listing, number) => new Example(listing, number + 1)); // in order
