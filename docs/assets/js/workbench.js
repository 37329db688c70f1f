// The workbench: a configuration and a length on one side, what the command says about them on the
// other. All is computed here; nothing is sent.

import { beside } from "./config/beside.js";
import { FILE, answered, lengthIn, printout } from "./config/command.js";
import { COLUMNS, cellsOf, factsOf, remedyOf } from "./config/explain.js";
import { schemeOf, titleOf, verdictOf } from "./config/explain.js";
import { MODELS } from "./config/models.js";
import { draw } from "./config/picture.js";
import { Refusal, general, grouped, oneLine } from "./config/python.js";
import { PROGRAMS, servingOf, servingText } from "./config/serving.js";
import { explain, families, keys, rule } from "./config/tables.js";
import { largest, list } from "./positions.js";

const FIRST = { model: "olmo-2", times: 2n }; // what is shown at first, and at which length
const TIMES = [1n, 2n, 4n, 8n]; // as many positions as promised, each a button
const STOPS = list(33, (n) => Math.round(2 ** (8 + n / 2))); // of the sliders: 256 … 16777216
const DESCRIBED = 12; // how many types of layers are described, at most
const STATUS = [
  "Exit status 0: nothing is wrong.",
  "Exit status 1: something is wrong. The length leads to new angles.",
];
// What may be at fault, each with a field of its own.
const UNREAD = { text: "configuration", length: "length asked about", trained: "trained length" };
// Pages of the book: the address from its top, and the words of a link to it.
const ROOT = new URL("../../", import.meta.url);
const ADVICE = ["how-to/extend-a-context/", "Extend a context"];
const LOST = ["how-to/extended-and-worse/#no-original", "what happens otherwise"];
const SCHEMES = {
  [families.ALIBI]: ["schemes/alibi/", "ALiBi"],
  [families.LEARNED]: ["schemes/learned/", "Learned table"],
  [families.BUCKETS]: ["schemes/t5/", "T5's bias"],
};
const OTHER = "Exit status 2: the positions of this model are not rotary. See";
const UNKNOWN = "The model type is not known: this holds only if every layer rotates, as in Llama.";
const NOTHING = "Nothing to draw: no length is said, or nothing rotates.";
const PARTS = `
  <div class="given">
    <div class="knob"><label for="wb-model">model</label><select id="wb-model"></select></div>
    <label for="wb-text">config.json</label>
    <div class="paper">
      <pre aria-hidden="true"></pre>
      <textarea id="wb-text" spellcheck="false" autocapitalize="off" autocomplete="off" wrap="off"
        aria-describedby="wb-text-error"></textarea>
    </div>
    <p id="wb-text-error" class="error" role="status"></p>
  </div>
  <div class="stage"></div>
  <div class="asked">
    <div class="knob">
      <label for="wb-length">length asked about</label>
      <input id="wb-length" inputmode="numeric" autocomplete="off"
        aria-describedby="wb-length-error">
      <input type="range" min="0" step="1" data-of="length" aria-label="length asked about">
    </div>
    <p id="wb-length-error" class="error" role="status"></p>
    <div class="times" role="group" aria-label="length asked about, times the promised one"></div>
    <div class="knob">
      <label for="wb-trained">trained length</label>
      <input id="wb-trained" inputmode="numeric" autocomplete="off"
        aria-describedby="wb-trained-error">
      <input type="range" min="0" step="1" data-of="trained" aria-label="trained length">
    </div>
    <p id="wb-trained-error" class="error" role="status"></p>
    <div class="knob layers"><label for="wb-layers">layers in the picture</label>
      <select id="wb-layers"></select></div>
    <div class="knob"><label for="wb-program">start with</label>
      <select id="wb-program"><option value="">no program</option></select></div>
  </div>
  <p class="says" role="status"></p>
  <div class="starts"></div>
  <div class="findings"></div>`;

function make(tag, properties = {}, ...inside) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...inside);
  return element;
}

/** A button that copies a text and says so. */
function copyButton(text, about) {
  const button = make("button", { type: "button", className: "copies" }, "Copy");
  button.append(make("span", { className: "unseen" }, ` ${about}`));
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text);
    button.firstChild.data = "Copied";
    setTimeout(() => (button.firstChild.data = "Copy"), 2000);
  });
  return button;
}

const listing = (text, about) =>
  make("div", { className: "listed" }, make("pre", { tabIndex: 0 }, make("code", {}, text)),
    ...(navigator.clipboard ? [copyButton(text, about)] : []));

function table(heads, rows, kind) {
  const row = (cells, tag) => make("tr", {}, ...cells.map((text) => make(tag, {}, String(text))));
  const head = row(heads, "th");
  for (const cell of head.children) cell.scope = "col";
  return make("table", { className: kind }, make("thead", {}, head),
    make("tbody", {}, ...rows.map((cells) => row(cells, "td"))));
}

/** A link to a page of the book. */
const link = ([address, words]) => make("a", { href: new URL(address, ROOT) }, words);

const paragraph = (text, className = "") => make("p", { className }, text);

/** What is found about one type of layers. */
function findings(found, rules) {
  const parts = [
    make("h2", {}, titleOf(FILE, found), ": ", make("strong", {}, schemeOf(found))),
  ];
  if (found.scheme !== keys.NONE) {
    parts.push(paragraph(verdictOf(found), "finding"));
    if (found.wrong) parts.push(...remedy(found));
    const isLonger = rules.some(({ name, slowed }) => name === "interpolation" && slowed[0] > 1);
    const tables = [pairs(found), ...(isLonger ? [comparison(rules)] : [])];
    parts.push(facts(found), make("div", { className: "tables" }, ...tables));
  } else {
    parts.push(facts(found));
  }
  if (found.notes.length) parts.push(...notes(found));
  return make("section", {}, ...parts);
}

function remedy(found) {
  const { says, lines } = remedyOf(found);
  const text = lines.map((line) => line.replace(/^ {2}/, "")).join("\n");
  return [paragraph(says), ...(lines.length ? [listing(text, "what to set")] : [])];
}

function facts(found) {
  const rows = factsOf(found).map(([what, text]) => {
    const head = make("th", { scope: "row" }, what);
    return make("tr", {}, head, make("td", {}, text));
  });
  return make("table", { className: "facts" }, make("tbody", {}, ...rows));
}

function pairs(found) {
  const { length } = found.pairs;
  const title = cellsOf(found).length < length ? `Some of the ${length} pairs` : "All pairs";
  return make("div", {}, make("h3", {}, title), table(COLUMNS, cellsOf(found), "pairs"));
}

function comparison(rules) {
  const rows = rules.map(({ name, slowed, unseen }) => {
    const most = largest(slowed);
    return [name, unseen, Number.isFinite(most) ? general(most, 4) : "all"];
  });
  const heads = ["rule", "pairs with new angles", "slowest pair slowed by"];
  return make("div", {}, make("h3", {}, "Each rule, at this length"), table(heads, rows, "rules"));
}

function notes(found) {
  const items = found.notes.map((note) => make("li", {}, note));
  return [make("h3", {}, "Who reads it otherwise"), make("ul", {}, ...items)];
}

/** The stop of a slider that is nearest to a length. */
const stopOf = (length) =>
  STOPS.reduce((best, stop, n) => {
    const off = (one) => Math.abs(Math.log(one / Number(length)));
    return off(stop) < off(STOPS[best]) ? n : best;
  }, 0);

/** The verdict in words, with a link where a page says more. */
function told({ fault, status, error, layers }) {
  const [, other] = error?.match(/ uses (.*): it has no /) ?? [];
  if (other in SCHEMES) return [OTHER, " ", link(SCHEMES[other]), "."];
  if (fault) return [`Exit status 2: the ${UNREAD[fault]} cannot be read.`];
  const said = [STATUS[status]];
  if (layers.some(({ rotates }) => rotates === null)) said.push(" ", UNKNOWN);
  const isUngiven = ({ notes }) => notes.some((note) => note.startsWith(rule.UNGIVEN));
  const found = layers.find(isUngiven);
  if (found) {
    const trained = grouped(found.trained_length);
    said.push(` ${rule.UNGIVEN}: this holds only if it is ${trained} (`, link(LOST), ").");
  }
  return said;
}

/** Which is at fault where an answer is an error: the first with which there is one. */
function faultOf(text, trained) {
  if (answered(text).error !== undefined) return "text";
  return answered(text, null, trained).error === undefined ? "length" : "trained";
}

/** The parts of a text that an error is about: its entries, or where its syntax breaks. */
function marks({ error, at, places }, text) {
  if (at !== undefined) return [[Math.min(at, Math.max(text.length - 1, 0)), at + 1]];
  const [wrong] = error.split(/; got |, such as /);
  const named = wrong.split(/[\s,]+/).map((path) => given(path, places));
  const found = named.filter(Boolean).map((path) => places.get(path).key);
  return found.sort(([a], [b]) => a - b);
}

/** A path, or that of the nearest entry around it that the configuration has. */
function given(path, places) {
  while (path && !places.has(path)) path = path.slice(0, Math.max(path.lastIndexOf("."), 0));
  return path;
}

class Workbench extends HTMLElement {
  connectedCallback() {
    this.build();
    this.listen();
    this.start();
  }

  build() {
    this.append(make("div", { className: "bench", innerHTML: PARTS }));
    const one = (selector) => this.querySelector(selector);
    this.model = one("#wb-model");
    this.text = one("textarea");
    this.paper = one(".paper pre");
    this.length = one("#wb-length");
    this.trained = one("#wb-trained");
    this.layers = one("#wb-layers");
    this.program = one("#wb-program");
    this.program.append(...PROGRAMS.map((name) => make("option", {}, name)));
    this.stage = one(".stage");
    const own = make("option", { value: "" }, "your own");
    this.model.append(own, ...MODELS.map(({ key, name }) => make("option", { value: key }, name)));
    one(".times").append(...TIMES.map((times) => this.timesButton(times)));
  }

  timesButton(times) {
    const words = times === 1n ? "as promised" : `${times} times`;
    const button = make("button", { type: "button" }, words);
    button.addEventListener("click", () => this.ask("length", this.promised * times));
    return button;
  }

  listen() {
    const one = (selector) => this.querySelector(selector);
    const on = (target, type, act) => target.addEventListener(type, act);
    on(this.model, "change", () => this.pick(this.model.value));
    on(this.text, "scroll", () => this.follow());
    for (const field of [this.text, this.length, this.trained]) {
      on(field, "input", ({ inputType }) => this.show(inputType === "insertFromPaste"));
    }
    on(this.layers, "change", () => this.paint());
    on(this.program, "change", () => this.starts());
    for (const name of ["length", "trained"]) {
      on(one(`[data-of=${name}]`), "input", ({ target }) => this.ask(name, STOPS[target.value]));
    }
    on(document, "paste", (event) => this.paste(event));
    new ResizeObserver(() => this.paint()).observe(this.stage);
  }

  /** Show what the address asks for: workbench.model and workbench.length. */
  start() {
    const query = new URLSearchParams(location.search);
    const key = query.get("workbench.model");
    const asked = query.get("workbench.length");
    this.pick(MODELS.some((one) => one.key === key) ? key : FIRST.model);
    if (asked !== null) this.length.value = asked;
    else if (key === null) this.ask("length", this.promised * FIRST.times);
    if (asked !== null) this.show();
  }

  pick(key) {
    this.model.value = key;
    this.write(MODELS.find((one) => one.key === key)?.text ?? "");
  }

  /** Take another configuration, of which nothing is asked yet. */
  write(text, isPasted = false) {
    this.text.value = text;
    this.length.value = this.trained.value = "";
    this.show(isPasted);
  }

  /** Ask about a length, or take another one for that of training. */
  ask(name, length) {
    this[name].value = length;
    this.show();
  }

  /** A whole configuration that is pasted anywhere on the page takes the place of one that is empty
      or picked. */
  paste(event) {
    const text = event.clipboardData.getData("text");
    const editing = event.target.closest?.("input, textarea") ?? this.text;
    const isSpare = [this.picked, ""].includes(this.text.value.trim());
    const isFromElsewhere = event.target !== this.text;
    if (editing !== this.text || !/^\s*\{/.test(text) || !(isSpare || isFromElsewhere)) return;
    event.preventDefault();
    this.write(text, true);
  }

  /** The text of the model that is picked. */
  get picked() {
    return MODELS.find((one) => one.key === this.model.value)?.text ?? "";
  }

  /** Show the answer; a fault of what is pasted comes into view. */
  show(isPasted = false) {
    const text = this.text.value;
    if (text !== this.picked) this.model.value = "";
    const found = this.answer(text);
    this.found = found;
    for (const name of Object.keys(UNREAD)) this.complain(name, found.faults?.[name] ?? "");
    this.mark(found.fault === "text" ? marks(found, text) : [], text);
    this.say(make("p", {}, ...told(found)));
    this.describe();
    this.starts();
    if (found.layers) this.set();
    this.paint();
    if (isPasted && found.fault) {
      this.querySelector(`#wb-${found.fault}-error`).scrollIntoView({ block: "nearest" });
    }
  }

  /** What the command answers; or what is wrong with which of the fields, and the first of these. */
  answer(text) {
    const faults = {};
    const [length, trained] = ["length", "trained"].map((name) => {
      try {
        return lengthIn(this[name].value);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        faults[name] = oneLine(error.message);
        return null;
      }
    });
    const found = answered(text, length, trained);
    if (found.error !== undefined) faults[faultOf(text, trained)] = found.error;
    const fault = Object.keys(UNREAD).find((name) => name in faults);
    return fault ? { ...found, layers: undefined, faults, fault } : found;
  }

  complain(name, error) {
    this.querySelector(`#wb-${name}-error`).textContent = error;
    if (error) this[name].setAttribute("aria-invalid", "true");
    else this[name].removeAttribute("aria-invalid");
  }

  say({ textContent, childNodes }) {
    const status = this.querySelector(".says");
    if (status.textContent !== textContent) status.replaceChildren(...childNodes);
  }

  /** Mark parts of the text in the layer behind it. */
  mark(spans, text) {
    const parts = [];
    let last = 0;
    for (const [start, end] of spans) {
      if (start < last) continue;
      parts.push(text.slice(last, start), make("mark", {}, text.slice(start, end) || " "));
      last = end;
    }
    this.paper.replaceChildren(...parts, `${text.slice(last)}\n`);
    this.follow();
  }

  follow() {
    this.paper.scrollTop = this.text.scrollTop;
    this.paper.scrollLeft = this.text.scrollLeft;
  }

  /** Write what was found below the picture. */
  describe() {
    const { layers, settings } = this.found;
    const place = this.querySelector(".findings");
    if (!layers) return place.replaceChildren(paragraph(explain.REPORT));
    this.rules = layers.map((found, n) => beside(settings[n], found));
    const all = layers.slice(0, DESCRIBED).map((found, n) => findings(found, this.rules[n]));
    const more = layers.length - DESCRIBED;
    if (more > 0) all.push(paragraph(`${more} more types of layers are in what the command prints.`));
    const printed = make("details", {}, make("summary", {}, "As the command prints it"));
    const print = () => printed.append(listing(printout(this.found), "what the command prints"));
    printed.open = place.querySelector("details")?.open ?? false;
    if (more > 0 && !printed.open) printed.addEventListener("toggle", print, { once: true });
    else print();
    const wrong = layers.some((found) => found.wrong);
    if (wrong) all.push(make("p", {}, "Which rule to choose: ", link(ADVICE), "."));
    place.replaceChildren(...all, paragraph(explain.REPORT), printed);
  }

  /** Write what to start the chosen program with. */
  starts() {
    const { layers, settings } = this.found;
    const text = this.program.value && layers ? this.started(settings, layers) : "";
    const parts = text ? [listing(text, "what to start with")] : [];
    this.querySelector(".starts").replaceChildren(...parts);
  }

  started(settings, layers) {
    try {
      return servingText(servingOf(this.program.value, settings, layers));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return oneLine(error.message);
    }
  }

  /** Set the controls to what was read. */
  set() {
    const { layers, settings, isOpen } = this.found;
    const [first] = layers;
    const names = layers.map(({ layer_type: type }) => type ?? "");
    const chosen = this.layers.value;
    this.layers.replaceChildren(...names.map((name) => make("option", { value: name }, name)));
    const rotating = layers.find(({ scheme }) => scheme !== keys.NONE)?.layer_type ?? "";
    this.layers.value = names.includes(chosen) ? chosen : rotating;
    this.layers.parentElement.hidden = layers.length < 2;
    this.promised = first.length ?? first.trained_length ?? 4096n;
    this.length.placeholder = first.asked_length ?? "";
    this.slide("length", first.asked_length);
    const own = settings.find(({ trainedLength }) => trainedLength !== null) ?? settings[0];
    this.trained.disabled = !isOpen;
    this.trained.placeholder = own.trainedLength ?? "not said";
    this.slide("trained", own.trainedLength, !isOpen);
  }

  slide(name, length, disabled = false) {
    const slider = this.querySelector(`[data-of=${name}]`);
    slider.max = STOPS.length - 1;
    slider.disabled = disabled;
    slider.value = stopOf(length ?? 4096n);
    slider.ariaValueText = String(length ?? "not said");
  }

  paint() {
    const { clientWidth: wide, clientHeight: high } = this.stage;
    if (!wide || !this.found) return; // hidden
    const at = (this.found.layers ?? []).findIndex(
      ({ layer_type: type }) => (type ?? "") === this.layers.value,
    );
    this.stage.classList.toggle("stale", at < 0); // an error: the picture is the last one
    if (at < 0) return;
    const { picture, alt } = draw(this.found.layers[at], this.rules[at], wide, high);
    const view = `role="img" viewBox="0 0 ${wide} ${high}"`;
    this.stage.innerHTML = picture ? `<svg ${view}>${picture}</svg>` : "";
    this.stage.firstElementChild?.setAttribute("aria-label", alt);
    if (!picture) this.stage.append(paragraph(NOTHING));
  }
}

customElements.define("config-workbench", Workbench);
