// Practise: makes the starter of each exercise editable, checks the answer with Python in the reader's
// browser, and keeps answers and progress in the browser's storage. Without this script readers can
// still see the statements, the starters, the hints and the solutions.

import { overflow, parts, watch } from "./listing.js";
import * as python from "./python.js";

const KNOWN = new URL("../practise/exercises.json", import.meta.url);
const KEY = "practise";
const LIMIT = 20; // seconds that an answer may take
const CANNOT = "This browser cannot run Python in a page.";
const CHECKING = `Checking, for at most ${LIMIT} seconds.`; // from when Python has started
const STOPPED = "Stopped.";
const TOO_LONG = `Stopped after ${LIMIT} seconds: is there a loop that never ends?`;
const FAILED = "Python could not be fetched, or it crashed. Check tries again.";
const NOT_KEPT = "This browser lets the page keep nothing: the answers are lost when you leave it.";

const all = (selector) => [...document.querySelectorAll(selector)];

/** What the reader has done: for each exercise the answer, and whether it was right at least once. */
let kept = {};
let denied = false; // storage may be forbidden or full

function recall() {
  if (denied) return; // what this page knows is newer
  try {
    kept = JSON.parse(localStorage.getItem(KEY)) ?? {};
  } catch {
    // what this page already knows stays
  }
}

function keep() {
  try {
    localStorage.setItem(KEY, JSON.stringify(kept));
    denied = false;
  } catch {
    denied = true;
  }
}

const isSolved = (name) => kept[name]?.solved === true;

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

/** A sentence in which code stands between backticks. */
function sentence(text) {
  return text.split("`").map((part, n) => (n % 2 ? make("code", {}, part) : part));
}

const LINE_START = /^/gm;
const INDENT = /^ {1,4}/gm;

/** Replace the selection, in a way that the reader can undo. */
function type(area, text) {
  if (document.execCommand("insertText", false, text)) return;
  area.setRangeText(text, area.selectionStart, area.selectionEnd, "end");
}

/** Indent at the cursor, or all selected lines; with Shift take the indent away. */
function indent(area, back) {
  const { value, selectionStart: from, selectionEnd: to } = area;
  const start = value.slice(0, from).lastIndexOf("\n") + 1;
  if (from === to && !back) return type(area, " ".repeat(4 - ((from - start) % 4)));
  const lines = value.slice(start, to);
  const changed = back ? lines.replace(INDENT, "") : lines.replace(LINE_START, "    ");
  area.setSelectionRange(start, to);
  if (changed !== lines) type(area, changed);
  area.setSelectionRange(from === to ? area.selectionEnd : start, area.selectionEnd);
}

/** Begin a line with the indent of the last one, and one more after a colon. */
function breakLine(area) {
  const before = area.value.slice(0, area.selectionStart);
  const line = before.slice(before.lastIndexOf("\n") + 1);
  type(area, `\n${/^ */.exec(line)[0]}${/:\s*$/.test(line) ? "    " : ""}`);
}

const titleOf = (name) => document.getElementById(name).firstChild.textContent;

/** Add what is done to an exercise, to what other tabs have kept. */
function note(name, what) {
  recall();
  kept[name] = { ...kept[name], ...what };
  keep();
}

/** Let the reader tick off an exercise that is solved in the notebook. */
function addTick(listing) {
  const name = listing.dataset.exercise;
  const words = () => (isSolved(name) ? "Not solved after all" : "I have solved it");
  const tick = button("", titleOf(name), () => {
    note(name, { solved: !isSolved(name) });
    show();
    showProgress();
  });
  const state = make("p", { role: "status" });
  const show = () => {
    tick.firstChild.data = words();
    state.textContent = [isSolved(name) && "Solved.", denied && NOT_KEPT].filter(Boolean).join(" ");
  };
  listing.append(make("div", { className: "run" }, tick, state));
  show();
}

class Exercise {
  constructor(listing) {
    this.name = listing.dataset.exercise;
    this.starter = parts(listing).typed.trimEnd();
    this.area = this.editor();
    this.start = button("Check", this.title, () => check(this));
    this.stop = button("Stop", this.title, () => python.stop());
    this.reset = button("Reset", this.title, () => this.write(this.starter));
    this.status = make("p", { role: "status" });
    this.row = make("div", { className: "run" }, this.start, this.stop, this.reset, this.status);
    this.result = make("div", { className: "result", role: "status" });
    listing.classList.add("open");
    listing.append(this.area, this.row, this.result);
    this.busy(false);
    if (isSolved(this.name)) this.say("Solved.");
  }

  get title() {
    return titleOf(this.name);
  }

  editor() {
    const area = make("textarea", { spellcheck: false, autocapitalize: "off", wrap: "off" });
    area.ariaLabel = `Your answer: ${this.title}`;
    area.value = kept[this.name]?.answer ?? this.starter;
    const fit = () => {
      area.rows = area.value.split("\n").length;
      watch(area);
    };
    area.addEventListener("input", () => {
      fit();
      note(this.name, { answer: area.value });
    });
    let leaves = false; // Escape lets the next Tab leave the field
    area.addEventListener("keydown", (event) => {
      const { key, ctrlKey, metaKey, shiftKey, isComposing } = event;
      const act = { Tab: () => indent(area, shiftKey), Enter: () => breakLine(area) }[key];
      if (key === "Enter" && (ctrlKey || metaKey)) check(this);
      else if (act && !(key === "Tab" && leaves) && !isComposing && !ctrlKey && !metaKey) act();
      else return (leaves = key === "Escape" || (leaves && key === "Shift"));
      event.preventDefault();
      leaves = false;
    });
    area.addEventListener("blur", () => (leaves = false));
    fit();
    return area;
  }

  /** Replace the answer, in a way that the reader can undo. */
  write(text) {
    this.area.focus();
    this.area.select();
    type(this.area, text);
    this.say("");
    this.result.replaceChildren();
  }

  busy(is) {
    this.start.ariaDisabled = is; // it keeps the focus
    if (!is && this.stop === document.activeElement) this.start.focus();
    this.stop.hidden = !is;
  }

  say(words) {
    if (this.status.textContent !== words) this.status.textContent = words;
  }

  show({ solved, lines, printed }) {
    const items = lines.map(([holds, says]) => {
      const verdict = make("span", { className: "unseen" }, holds ? "Right: " : "Wrong: ");
      return make("li", { className: holds ? "right" : "wrong" }, verdict, ...sentence(says));
    });
    this.result.replaceChildren(make("ul", {}, ...items), ...output(printed));
    if (solved) note(this.name, { solved });
    showProgress();
    const verdict = solved ? "Solved." : "Not yet.";
    this.say(denied ? `${verdict} ${NOT_KEPT}` : verdict);
  }
}

/** What the answer printed, if anything. */
function output(printed) {
  if (!printed) return [];
  const code = make("code", {}, printed);
  overflow.observe(code);
  return [make("p", {}, "Your code printed:"), make("pre", {}, code)];
}

const megabytes = (bytes) => (bytes / 1e6).toFixed(0);

let running; // the exercise that is checked

/** Check an answer; the one before it is stopped. */
async function check(exercise) {
  if (exercise.start.ariaDisabled === "true") return;
  if (!python.possible) return exercise.say(CANNOT);
  if (running) python.stop();
  running = exercise;
  exercise.busy(true);
  exercise.result.replaceChildren();
  let clock;
  let late = false;
  let told = "";
  const hear = ({ kind, text, arrived, expected }) => {
    if (kind === "printed") told += text;
    else if (kind === "starting") exercise.say("Starting Python.");
    else if (kind === "loading") {
      exercise.say(`Fetching Python, once: ${megabytes(arrived)} of ${megabytes(expected)} MB.`);
    } else {
      exercise.say(CHECKING);
      clock = setTimeout(() => {
        late = true;
        python.stop();
      }, 1000 * LIMIT);
    }
  };
  try {
    exercise.say("Fetching the checks.");
    const source = program(await known(), exercise);
    await python.run({ source, place: "check", group: "practise" }, hear);
    exercise.show(JSON.parse(told));
  } catch (reason) {
    exercise.say(reason === python.STOPPED ? (late ? TOO_LONG : STOPPED) : FAILED);
  }
  clearTimeout(clock);
  if (running === exercise) running = undefined;
  exercise.busy(false);
}

let fetched;

/** Fetch the checks of all exercises, once. */
async function known() {
  if (!fetched) {
    const answer = await fetch(KNOWN);
    if (!answer.ok) throw new Error(answer.status);
    fetched = await answer.json();
  }
  return fetched;
}

/** The program that judges an answer. A text in JSON is a text in Python, too. */
function program({ judge, exercises }, { name, area }) {
  const text = JSON.stringify;
  const call = `judge["as_json"](${text(text(exercises[name]))}, ${text(area.value)})`;
  return `judge = {}\nexec(${text(judge)}, judge)\nprint(${call})`;
}

/** Make the row of cells of a group, tinted by its numbers. */
function makeCells(row) {
  const numbers = row.dataset.row.split(" ").map(Number);
  const cells = row.dataset.of.split(" ").map((name, n) => {
    const cell = make("i", { className: numbers[n] < 0 ? "neg" : "pos" });
    cell.dataset.of = name;
    cell.style.setProperty("--v", Math.abs(numbers[n]));
    return cell;
  });
  row.replaceChildren(...cells);
}

/** Fill in the cells, and mark solved exercises in the lists. */
function showProgress() {
  for (const cell of all(".cells [data-of]")) {
    cell.classList.toggle("done", isSolved(cell.dataset.of));
  }
  for (const link of all(".cells + ul a")) {
    const solved = isSolved(link.hash.slice(1));
    link.parentElement.classList.toggle("right", solved);
    link.parentElement.querySelector(".so")?.remove();
    if (solved) link.after(make("span", { className: "so" }, ", solved"));
  }
  for (const line of all(".solved")) showCount(line);
}

/** Say how many are solved, with a button that forgets everything, and then one that takes it back. */
function showCount(line, before) {
  const names = all(".cells [data-of]").map((cell) => cell.dataset.of);
  const count = names.filter(isSolved).length;
  const forget = () => {
    const last = kept;
    kept = {};
    keep();
    showProgress();
    showCount(line, last);
    line.querySelector("button").focus();
  };
  const undo = () => {
    kept = before;
    keep();
    showProgress();
  };
  const said = before ? "Answers and progress are forgotten." : `${count} of ${names.length} solved.`;
  const offered = [];
  if (before) offered.push(button("Undo", "", undo));
  else if (Object.keys(kept).length) offered.push(button("Forget my answers", "", forget));
  line.replaceChildren(make("span", {}, said), ...offered);
}

recall();
all(".cells").forEach(makeCells);
for (const listing of all(".answer")) {
  if (listing.matches(".elsewhere")) addTick(listing);
  else new Exercise(listing);
}
showProgress();
// A page that the browser has kept and shows again may be older than what other pages have stored.
addEventListener("pageshow", ({ persisted }) => {
  if (!persisted) return;
  recall();
  showProgress();
});
