// The base of the explorers: controls, a picture, a sentence, and the state in the address. Without
// scripts the page shows a figure instead. What an explorer computes is in positions.js, which knows
// no page and is compared with the package; it draws with classes of explore.css, never a colour of
// its own. All explorers together stay under 12 KB, compressed.

import { list } from "../positions.js";

const KINDS = ["a number", "a whole number", "an even number"]; // by their step

/** Controls that several explorers have. */
export const WIDTH = { label: "width", value: 8, min: 2, max: 1024, step: 2 };
WIDTH.stops = list(10, (n) => 2 ** (n + 1));
export const BASE = { label: "base", value: 10000, min: 2, max: 1e6 };
BASE.stops = [2, ...list(6, (n) => 10 ** (n + 1))];

/**
 * A query and a key of one head, each of whose pairs fits into a dial. The first eight entries are
 * the words "dog" and "bites" of chapter 1.
 */
export const QUERY = [
  0.5, 0.3, 0.8, 0.1, 0.4, 0.6, 0.2, 0.9, 0.6, 0.5, -0.7, 0.3, 0.4, -0.8, 0.5, 0.7,
];
export const KEY = [
  0.2, 0.7, 0.4, 0.9, 0.1, 0.3, 0.8, 0.5, -0.3, 0.8, -0.6, 0.6, 0.7, 0.2, 0.9, 0.1,
];

const [LEFT, RIGHT] = [48, 18]; // of a plot

const upperLimit = ({ max }, state) => (typeof max === "function" ? max(state) : max);

/** Why a text is not a valid value of a control, as a sentence; empty if it is valid. */
export function complaint(control, text, state) {
  const { label, options, min, step = 1 } = control;
  const max = options ? 0 : upperLimit(control, state);
  const written = /^-?[\d.]+(e\d+)?$/.test(text) && text >= min && text <= max;
  if (options ? options.includes(text) : written && !(step && text % step)) return "";
  const allowed = options ? `one of ${options.join(", ")}` : `${KINDS[step]} from ${min} to ${max}`;
  return `${label} must be ${allowed}; got ${text || "nothing"}.`;
}

const parsed = ({ options }, text) => (options ? text : Number(text));

/** The state with each value limited to its maximum, which may depend on the values before it. */
function clamped(controls, state) {
  const kept = { ...state };
  for (const name in controls) {
    if (!controls[name].options) kept[name] = Math.min(kept[name], upperLimit(controls[name], kept));
  }
  return kept;
}

/** The state in an address, read by `get(name)`, and an error message for invalid values. */
export function asked(controls, get) {
  let [state, trouble] = [{}, ""];
  for (const name in controls) state[name] = controls[name].value;
  for (const name in controls) {
    const text = get(name);
    const wrong = text === null ? "" : complaint(controls[name], text, state);
    if (text !== null && !wrong) state[name] = parsed(controls[name], text);
    state = clamped(controls, state);
    if (wrong) trouble += `In the address, ${wrong} Showing ${state[name]}. `;
  }
  return { state, trouble };
}

const places = (points) => points.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`);

/** Parts of a picture; a `kind` is a class in explore.css. */
export function line(points, kind = "") {
  return `<path class="${kind}" d="M${places(points).join("L")}"/>`;
}

export function dots(points, kind = "") {
  return `<path class="dots ${kind}" d="M${places(points).join("h0M")}h0"/>`;
}

export function box(x, y, wide, high, kind = "") {
  return `<rect class="${kind}" x="${x}" y="${y}" width="${wide}" height="${high}"/>`;
}

export function words(x, y, text, kind = "") {
  return `<text class="${kind}" x="${x}" y="${y}">${String(text).replace(/^-/, "−")}</text>`;
}

/** A frame from `top` to `bottom`; the ticks below and beside are values or `[value, text]`. */
export function plot(wide, top, bottom, xs, ys, below, beside) {
  const x = (value) => LEFT + ((value - xs[0]) / (xs[1] - xs[0])) * (wide - LEFT - RIGHT);
  const y = (value) => top + ((ys[1] - value) / (ys[1] - ys[0])) * (bottom - top);
  const write = (ticks, one) => ticks.map((tick) => one(...[tick, tick].flat())).join("");
  const frame =
    box(LEFT, top, wide - LEFT - RIGHT, bottom - top, "rule") +
    write(below, (value, text) => words(x(value), bottom + 20, text, "middle")) +
    write(beside, (value, text) => words(LEFT - 8, y(value) + 5, text, "end"));
  return { x, y, frame };
}

/** The value on the horizontal axis at a pointer position. */
export const reading = (x, wide, [first, last]) =>
  first + ((x - LEFT) / (wide - LEFT - RIGHT)) * (last - first);

/** A dial with two hands, given as [right, up] on the unit circle, and a shaded turn in radians
    from the first hand. */
export function dial(x, y, radius, first, second, turn) {
  const at = ([right, up]) => [x + radius * right, y - radius * up];
  const rim = (start, by) =>
    list(65, (n) => at([Math.cos(start + (by * n) / 64), Math.sin(start + (by * n) / 64)]));
  const start = Math.atan2(first[1], first[0]);
  return (
    line([[x, y], ...rim(start, turn)], "swept") +
    line(rim(0, 2 * Math.PI)) +
    line([[x, y], at(first)], "ink dashed") +
    line([[x, y], at(second)], "ink bold")
  );
}

/** The label and the inputs of a control. */
function knob(id, name, { label, options, min, step = 1, stops }) {
  const own = `id="${id}" name="${name}"`;
  const track = (low, by) => `min="${low}" step="${by || "any"}"`;
  const choices = options?.map((option) => `<option>${option}</option>`).join("");
  const slider = `name="${name}" aria-label="${label}" ${stops ? track(0, 1) : track(min, step)}`;
  const inputs = options
    ? `<select ${own}>${choices}</select>`
    : `<input type="number" ${own} ${track(min, step)}><input type="range" ${slider}>`;
  return `<div class="knob"><label for="${id}">${label}</label>${inputs}</div>`;
}

/** The values that a slider steps through, if not all. */
const stopsOf = ({ type }, { stops }) => (type === "range" ? stops : undefined);

/** Set an input to the value in the state. */
function set(input, control, state) {
  const [value, stops] = [state[input.name], stopsOf(input, control)];
  input.removeAttribute("aria-invalid");
  if (!control.options) input.max = stops ? stops.length - 1 : upperLimit(control, state);
  const shown = stops ? stops.findLastIndex((stop) => stop <= value) : value;
  if (input.valueAsNumber !== shown) input.value = shown; // "1." may be on the way to 1.5
  if (input.type === "range") input.ariaValueText = value;
}

/** Define <explore-name>. `draw(state, wide, high)` returns `picture`, as SVG, and `says`, a
    sentence; also `alt` if its alternative text is not `title`. `point(x, y, state, wide, high)`
    returns the values that a pointer there sets, and `start(element)` adds what one explorer alone
    has. An element with `data-view="width=2&base=100"` has these defaults instead of its own. The
    height is set in explore.css. */
export function explorer(name, { title, controls: own, draw, point, start }) {
  const controls = { ...own }; // a page has at most one explorer of a kind
  class Explorer extends HTMLElement {
    connectedCallback() {
      for (const [key, text] of new URLSearchParams(this.dataset.view)) {
        controls[key] = { ...controls[key], value: parsed(controls[key], text) };
      }
      const knobs = Object.entries(controls).map(([key, it]) => knob(`${name}-${key}`, key, it));
      const held = `<div class="knobs">${knobs.join("")}</div><p role="status"></p>`;
      this.insertAdjacentHTML("beforeend", `<div class="stage"></div>${held}`);
      this.stage = this.querySelector(".stage");
      this.status = this.querySelector("[role=status]");
      const on = (target, types, act) => {
        for (const type of types) target.addEventListener(type, act);
      };
      on(this, ["input"], ({ target }) => this.turn(target));
      const finger = ["pointerdown", "pointermove", "pointercancel"];
      if (point) on(this.stage, finger, (event) => this.point(event));
      on(window, ["popstate", "view"], () => this.read());
      on(window, ["click"], (event) => this.follow(event));
      this.read();
      new ResizeObserver(() => this.show()).observe(this.stage);
      start?.(this);
    }

    /** Read the state from the address. */
    read() {
      const query = new URLSearchParams(location.search);
      Object.assign(this, asked(controls, (key) => query.get(`${name}.${key}`)));
      this.wanted = this.state;
      clearTimeout(this.later);
      this.later = 0;
      this.show();
    }

    /** Write the values that differ from the defaults to the address, if a change is pending. */
    write() {
      if (!this.later) return;
      clearTimeout(this.later);
      this.later = 0;
      const address = new URL(location);
      for (const key in controls) {
        address.searchParams.delete(`${name}.${key}`);
        if (this.state[key] === controls[key].value) continue;
        address.searchParams.set(`${name}.${key}`, this.state[key]);
      }
      history.replaceState(null, "", address);
    }

    /** Show a view of this page that is linked from it, and add it to the history. */
    follow(event) {
      this.write(); // before the address changes
      const link = event.target.closest("article a");
      if (link?.pathname !== location.pathname || !link.search.includes(`${name}.`)) return;
      if (link.hash || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      history.pushState(null, "", link.href);
      dispatchEvent(new Event("view"));
      this.scrollIntoView({ block: "nearest" });
    }

    turn(input) {
      const control = controls[input.name];
      const text = String(stopsOf(input, control)?.[input.value] ?? input.value);
      const wrong = complaint(control, text, this.state);
      if (!wrong) return this.change({ [input.name]: parsed(control, text) });
      input.ariaInvalid = true;
      this.status.textContent = wrong;
    }

    point({ clientX, clientY, type, pointerType, buttons }) {
      if (type === "pointermove" && pointerType === "mouse" && !buttons) return;
      if (type === "pointercancel") return this.change(this.held); // the gesture scrolls the page
      if (type === "pointerdown") this.held = this.wanted;
      const { left, top, width, height } = this.stage.getBoundingClientRect();
      const some = point(clientX - left, clientY - top, this.state, width, height);
      for (const key in some) some[key] = Math.max(controls[key].min, Math.round(some[key]));
      this.change(some);
    }

    change(some) {
      this.wanted = { ...this.wanted, ...some }; // unclamped: typing 128 passes through 12
      this.state = clamped(controls, this.wanted);
      this.trouble = "";
      this.show();
      clearTimeout(this.later); // browsers limit how often the address may change
      this.later = setTimeout(() => this.write(), 200);
    }

    show() {
      if (!this.stage.clientWidth) return; // hidden
      const inputs = this.querySelectorAll("[name]");
      for (const input of inputs) set(input, controls[input.name], this.state);
      this.status.textContent = this.trouble + this.paint(this.state);
    }

    /** Draw a state, and return the sentence that goes with it. */
    paint(state) {
      const { clientWidth: wide, clientHeight: high } = this.stage;
      const { picture, says, alt = title } = draw(state, wide, high);
      const view = `role="img" aria-label="${alt}" viewBox="0 0 ${wide} ${high}"`;
      this.stage.innerHTML = `<svg ${view}>${picture}</svg>`;
      return says;
    }
  }
  customElements.define(`explore-${name}`, Explorer);
}
