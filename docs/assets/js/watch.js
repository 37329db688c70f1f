// *Watch it break*: trained models read a text, byte by byte. The models run in a worker, which fetches
// their weights once a reader asks for them. Nothing that is typed leaves the page.

import { asked, box, line, plot, reading, words } from "./explore/base.js";
import { largest, list, printed } from "./positions.js";
import { HEADS, LAYERS, MOST, RULES, SCHEMES, TRAINED } from "./watch/schemes.js";
import { dependsOnLength, rulesOf } from "./watch/schemes.js";

const LEAST = 16;
const AROUND = 8; // bytes on either side whose surprise is averaged for the curve
const KEPT = 3; // results kept, of 13 megabytes each
const TEXT = new URL("../weights/text.txt", import.meta.url);
const RULE_NAMES = ["as trained", ...Object.values(RULES).flatMap(Object.keys)];
const HEAD_NAMES = list(LAYERS * HEADS, (n) => `${Math.floor(n / HEADS) + 1}.${(n % HEADS) + 1}`);
/** What the address may say, as `watch.length=512`. */
const CONTROLS = {
  scheme: { label: "scheme", options: Object.keys(SCHEMES), value: "sinusoidal" },
  rule: { label: "rule", options: RULE_NAMES, value: "as trained" },
  length: { label: "length", min: LEAST, max: MOST, value: 256 },
  byte: { label: "byte", min: 1, max: MOST - 1, value: 100 },
  head: { label: "head", options: HEAD_NAMES, value: "1.1" },
};

const radio = ([name, label]) =>
  `<label><input type="radio" name="scheme" value="${name}"> ${label}</label>`;
const option = ([value, label]) => `<option value="${value}">${label}</option>`;
const slider = (name, label, track) => `<div class="knob"><label for="watch-${name}">${label}</label>
  <output for="watch-${name}"></output><input type="range" id="watch-${name}" name="${name}" ${track}></div>`;
const headLabel = (name) => `layer ${name.replace(".", ", head ")}`;
const PARTS = `
  <div class="offer">
    <button type="button" class="start">Watch it break</button>
    <p>Fetches a model that was trained for this page, 0.7 MB, and runs it here.</p>
  </div>
  <div class="bench" hidden>
    <fieldset><legend>scheme</legend>${Object.entries(SCHEMES).map(radio).join("")}</fieldset>
    <div class="knobs">
      ${slider("length", "length in bytes", `min="${LEAST}" max="${MOST}" step="16"`)}
      <div class="knob"><label for="watch-rule">after training</label>
        <select id="watch-rule" name="rule" aria-describedby="watch-why"></select>
        <p id="watch-why" class="why"></p></div>
    </div>
    <p class="summary" role="status"></p>
    <div class="stage"></div>
    <div class="text" role="img"></div>
    <div class="knobs">
      ${slider("byte", "byte pointed at", 'min="1" step="1"')}
      <div class="knob"><label for="watch-head">attention of</label>
        <select id="watch-head" name="head">
          ${HEAD_NAMES.map((name) => option([name, headLabel(name)])).join("")}</select></div>
    </div>
    <p class="pointed"></p>
    <details><summary>A text of your own</summary>
      <label for="watch-own">Any text in any script. The models know Python’s English help pages.</label>
      <textarea id="watch-own" rows="5" spellcheck="false" aria-describedby="watch-error"></textarea>
      <button type="button" class="read">Read it</button>
      <button type="button" class="ours">Back to the page’s text</button>
      <p id="watch-error" class="error" role="status"></p>
    </details>
  </div>`;

const SIGNS = { "\n": "↵", "\t": "⇥", " ": "\u00a0" };
const SPOKEN = { "\n": "a line break", "\t": "a tab", " ": "a space" };
const encoder = new TextEncoder();

/** The first bytes of a text, with the character that begins at each byte; empty inside of one. */
export function bytesOf(text) {
  const bytes = new Uint8Array(MOST);
  const { read, written } = encoder.encodeInto(text, bytes);
  const characters = [];
  for (const character of text.slice(0, read)) {
    characters.push(character, ...Array(encoder.encode(character).length - 1).fill(""));
  }
  return { bytes: bytes.slice(0, written), characters };
}

const sign = (character) => SIGNS[character] ?? (character < " " ? "·" : character || "·");

const textOf = (answer) => (answer.ok ? answer.text() : Promise.reject(answer.status));

/** A byte in words. */
function spoken(byte, character = String.fromCharCode(byte)) {
  if (SPOKEN[character]) return SPOKEN[character];
  if (character && character > " " && (byte < 127 || byte > 191) && character !== "\u007f") {
    if (byte < 127 || encoder.encode(character).length > 1) return `“${character}”`;
  }
  return `byte 0x${byte.toString(16).toUpperCase().padStart(2, "0")}`;
}

/** The byte of a guess in words: beyond ASCII it is only a part of a character. */
const guessed = (byte) => spoken(byte, byte < 127 ? String.fromCharCode(byte) : "");

const percent = (odds) => (odds < 0.001 ? "less than 0.1 %" : `${printed(100 * odds, odds < 0.1 ? 1 : 0)} %`);

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The mean surprise of the bytes around each, from the first that is predicted to the last. */
export function smoothed(surprise, length) {
  return list(length - 1, (n) =>
    mean(surprise.subarray(Math.max(1, n + 1 - AROUND), Math.min(length, n + 1 + AROUND))),
  );
}

/** The perplexity up to the trained length and beyond it, in words. */
function summary(name, { surprise }, length) {
  const perplexity = (from, to) => printed(2 ** mean(surprise.subarray(from, to)), 1);
  const near = `${name} on ${length} bytes: perplexity ${perplexity(1, Math.min(length, TRAINED))}`;
  if (length <= TRAINED) return `${near}. The models were trained on ${TRAINED}.`;
  return `${near} in the first ${TRAINED}, ${perplexity(TRAINED, length)} beyond.`;
}

/** The curve of surprise, a strip of the bytes below it, and the attention of one head below that. */
function drawn({ surprise, attention }, { length, byte, head, read }, wide, high) {
  const curve = smoothed(surprise, length);
  const top = Math.max(8, Math.ceil(largest(curve)));
  const ticks = list(Math.floor(top / 2) + 1, (n) => [2 * n, 2 ** (2 * n)]);
  const bottom = high - 184;
  const last = shownUpTo(length);
  const below = [0, TRAINED, 128, 256, MOST].filter((n) => n <= last);
  if (last - below.at(-1) >= last / 8) below.push(last);
  const { x, y, frame } = plot(wide, 26, bottom, [0, last], [0, top], below, ticks);
  const cell = (n, from, to, kind, v) =>
    `<rect class="${kind}" style="--v:${v.toFixed(3)}" x="${x(n)}" y="${from}" width="${x(1) - x(0)}" height="${to - from}"/>`;
  const strip = bottom + 30;
  const bars = strip + 132;
  const own = HEAD_NAMES.indexOf(head);
  const weights = attention.subarray((own * read + byte - 1) * read, (own * read + byte - 1) * read + byte);
  const most = largest(weights);
  const far = byte - TRAINED; // the first key within the trained length
  return [
    words(0, 14, "perplexity per byte, over 16 bytes"),
    box(x(0), 26, x(TRAINED) - x(0), bottom - 26, "swept"),
    frame,
    line([[x(TRAINED), 26], [x(TRAINED), bottom]], "ink"),
    line(curve.map((bits, n) => [x(n + 1), y(bits)]), "neg bold"),
    line([[x(byte + 0.5), 26], [x(byte + 0.5), bottom]], "ink dashed"),
    last < 2 * TRAINED
      ? words(x(TRAINED) - 6, 42, "trained on 64", "strong named end")
      : words(x(TRAINED) + 6, 42, "trained on 64", "strong named"),
    ...list(length - 1, (n) => cell(n + 1, strip, strip + 12, "bit", tint(surprise[n + 1]))),
    line([[x(TRAINED), strip - 3], [x(TRAINED), strip + 15]], "ink"),
    words(0, strip + 32, `attention, ${headLabel(head)}, before byte ${byte}`),
    ...[...weights].map((weight, n) => cell(n, bars - (90 * weight) / most, bars, "pos", 1)),
    line([[x(0), bars], [x(byte), bars]], "rule"),
    far > 0 ? line([[x(far), bars - 92], [x(far), bars + 4]], "ink") : "",
    far > 0 ? words(x(far), bars + 16, "64 back", 12 * far < last ? "" : "middle") : "",
  ].join("");
}

/** The last byte on the axis: that of the text, but at least the trained length. */
const shownUpTo = (length) => Math.max(length, TRAINED);

const tint = (bits) => Math.min(1, bits / 8);

class WatchItBreak extends HTMLElement {
  connectedCallback() {
    this.insertAdjacentHTML("afterbegin", PARTS);
    const part = (name) => this.querySelector(name);
    [this.stage, this.text, this.says] = [".stage", ".text", ".summary"].map(part);
    this.results = new Map(); // by what was asked
    this.known = new Set(); // the schemes whose weights have come
    const on = (target, type, act) => target.addEventListener(type, act);
    on(part(".start"), "click", () => this.start());
    on(part(".bench"), "input", ({ target }) => this.turn(target));
    on(part(".read"), "click", () => this.take(part("textarea").value));
    on(part(".ours"), "click", () => this.takeOurs());
    for (const type of ["pointerdown", "pointermove"]) {
      on(this.stage, type, ({ clientX }) => this.point(this.byteAt(clientX)));
      on(this.text, type, ({ target }) => this.point(Number(target.dataset.n)));
    }
    on(window, "popstate", () => this.read());
    on(window, "click", (event) => this.follow(event));
    new ResizeObserver(() => this.paint()).observe(this.stage);
    this.read();
  }

  /** Read the state from the address. */
  read() {
    const query = new URLSearchParams(location.search);
    const { state, trouble } = asked(CONTROLS, (name) => query.get(`watch.${name}`));
    if (!(state.rule in rulesOf(state.scheme))) [state.rule] = Object.keys(rulesOf(state.scheme));
    Object.assign(this, { state, trouble });
    if (this.bytes) this.show();
  }

  /** Write to the address what differs from the defaults. */
  write() {
    const address = new URL(location);
    for (const [name, { value }] of Object.entries(CONTROLS)) {
      const own = this.state[name];
      address.searchParams.delete(`watch.${name}`);
      const isPlain = own === value || (name === "rule" && own === this.state.scheme);
      if (!isPlain) address.searchParams.set(`watch.${name}`, own);
    }
    history.replaceState(null, "", address);
  }

  /** Show a view that is linked from this page. */
  follow(event) {
    const link = event.target.closest("article a");
    if (link?.pathname !== location.pathname || !link.search.includes("watch.")) return;
    if (link.hash || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    history.pushState(null, "", link.href);
    this.read();
    if (!this.bytes) this.start();
    this.scrollIntoView({ block: "nearest" });
  }

  /** Fetch what is needed for the first view. */
  async start() {
    this.classList.add("runs");
    this.querySelector(".bench").hidden = false;
    this.querySelector(".offer").hidden = true;
    this.querySelector(`[value=${this.state.scheme}]`).focus({ preventScroll: true });
    await this.takeOurs();
  }

  async takeOurs() {
    try {
      this.ours ??= await textOf(await fetch(TEXT));
      this.take(this.ours);
    } catch {
      this.says.textContent = "The text could not be fetched: no connection. Paste one of your own.";
    }
  }

  /** Read another text, or say why not. */
  take(text) {
    const error = this.querySelector("#watch-error");
    const { bytes, characters } = bytesOf(text);
    error.textContent = "";
    if (bytes.length < 2) {
      const got = text ? "This one has a single byte" : "This one is empty";
      error.textContent = `A text must have at least two bytes, since the first is not predicted. ${got}.`;
      return;
    }
    const size = encoder.encode(text).length;
    if (size > bytes.length && text !== this.ours) {
      const all = size.toLocaleString("en");
      error.textContent = `The text has ${all} bytes; the first ${bytes.length} of them are read.`;
    }
    this.results.clear();
    Object.assign(this, { bytes, characters });
    this.text.replaceChildren(
      ...characters.map((character, n) => {
        const cell = document.createElement("span");
        cell.dataset.n = n;
        cell.textContent = sign(character);
        return cell;
      }),
    );
    this.show();
  }

  turn({ name, value, type }) {
    if (!(name in CONTROLS)) return;
    const some = { [name]: type === "range" ? Number(value) : value };
    if (name === "scheme") [some.rule] = Object.keys(rulesOf(value));
    this.change(some);
  }

  byteAt(x) {
    const { left, width } = this.stage.getBoundingClientRect();
    return Math.floor(reading(x - left, width, [0, shownUpTo(this.length)]));
  }

  point(byte) {
    if (!this.bytes || !(byte < this.length)) return;
    if (Math.max(1, byte) !== this.byte) this.change({ byte: Math.max(1, byte) });
  }

  change(some) {
    Object.assign(this.state, some);
    this.trouble = "";
    this.show();
    clearTimeout(this.later); // browsers limit how often the address may change
    this.later = setTimeout(() => this.write(), 200);
  }

  /** The length that is read and the byte that is pointed at, within the text. */
  get length() {
    return Math.min(this.state.length, this.bytes.length);
  }

  get byte() {
    return Math.min(this.state.byte, this.length - 1);
  }

  /** What the view needs: a rule that depends on the length reads so many bytes, others all. */
  get needed() {
    const { scheme, rule } = this.state;
    const read = dependsOnLength(rule) ? this.length : this.bytes.length;
    return { id: `${rule} ${read}`, scheme, rule, bytes: this.bytes.slice(0, read) };
  }

  show() {
    this.set();
    const { id, scheme } = this.needed;
    if (this.results.has(id)) return this.paint();
    const fetching = `Fetching the weights of ${SCHEMES[scheme]} …`;
    this.says.textContent = this.known.has(scheme) ? "Reading the text …" : fetching;
    this.ask();
  }

  /** Ask the worker, which answers one question at a time. */
  ask() {
    if (this.busy) return;
    this.busy = true;
    if (!this.worker) {
      this.worker = new Worker(new URL("./watch_worker.js", import.meta.url), { type: "module" });
      this.worker.onmessage = ({ data }) => this.hear(data);
      this.worker.onerror = () => this.hear({ trouble: "The script that runs the models did not start." });
    }
    this.worker.postMessage(this.needed);
    this.asked = this.bytes;
  }

  /** Keep an answer; if something else is wanted by now, ask again. */
  hear({ id, scheme, trouble, ...result }) {
    this.busy = false;
    const isOfThisText = this.asked === this.bytes;
    if (!trouble) this.known.add(scheme);
    if (!trouble && isOfThisText) {
      this.results.set(id, result);
      if (this.results.size > KEPT) this.results.delete(this.results.keys().next().value);
    }
    if (trouble && (!id || id === this.needed.id)) this.fail(trouble);
    else this.show();
  }

  fail(trouble) {
    this.says.textContent = trouble;
    this.stage.replaceChildren();
  }

  /** Set the controls to the state. */
  set() {
    const { scheme, rule, head } = this.state;
    const rules = Object.entries(rulesOf(scheme));
    for (const input of this.querySelectorAll("[name=scheme]")) input.checked = input.value === scheme;
    const choice = this.querySelector("[name=rule]");
    if (choice.dataset.of !== scheme) choice.innerHTML = rules.map(option).join("");
    choice.dataset.of = scheme;
    choice.value = rule;
    choice.disabled = rules.length < 2;
    this.querySelector(".why").textContent = choice.disabled ? "No rule here; RoPE has the most." : "";
    this.querySelector("[name=head]").value = head;
    this.slide("length", this.state.length, `${this.length}`);
    this.querySelector("[name=byte]").max = this.length - 1;
    this.slide("byte", this.byte, `${this.byte}`);
  }

  slide(name, value, shown) {
    const input = this.querySelector(`[name=${name}]`);
    input.value = value;
    input.previousElementSibling.value = shown;
    if (name === "length") input.ariaValueText = `${shown} bytes`;
  }

  paint() {
    const result = this.bytes && this.results.get(this.needed.id);
    const { clientWidth: wide, clientHeight: high } = this.stage;
    if (!result || !wide) return;
    const { length, byte } = this;
    const { scheme, rule, head } = this.state;
    const read = this.needed.bytes.length;
    const words = rule === scheme ? SCHEMES[scheme] : `${SCHEMES[scheme]}, ${rulesOf(scheme)[rule]}`;
    const says = this.trouble + summary(words, result, length);
    if (this.says.textContent !== says) this.says.textContent = says;
    const picture = drawn(result, { length, byte, head, read }, wide, high);
    const label = "Perplexity along the text, the surprise of each byte, and the attention of one head";
    this.stage.innerHTML = `<svg role="img" aria-label="${label}" viewBox="0 0 ${wide} ${high}">${picture}</svg>`;
    this.tint(result, length, byte);
    const sentence = this.sentence(result, byte);
    this.querySelector(".pointed").textContent = sentence;
    this.querySelector("[name=byte]").ariaValueText = sentence;
  }

  tint({ surprise }, length, byte) {
    this.text.ariaLabel = `The text, ${length} bytes, each tinted by its surprise`;
    for (const [n, cell] of [...this.text.children].entries()) {
      cell.className = n === byte ? "here" : n < length ? "" : "unread";
      cell.style.setProperty("--v", n < length ? tint(surprise[n]).toFixed(3) : 0);
    }
  }

  /** What the models says of a byte, in words. */
  sentence({ surprise, guesses }, byte) {
    const odds = 2 ** -surprise[byte];
    const best = guesses[byte].map(([guess, likely]) => `${guessed(guess)} ${percent(likely)}`);
    return (
      `Byte ${byte}, ${spoken(this.bytes[byte], this.characters[byte])}: ` +
      `${printed(surprise[byte], 1)} bits of surprise, as its probability was ${percent(odds)}. ` +
      `Expected most: ${best.join(", ")}.`
    );
  }
}

customElements.define("watch-it-break", WatchItBreak);
