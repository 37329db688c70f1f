// <encoding-plate>: the picture on the home page, whose cells can be read with the pointer or two
// sliders. The page contains all its elements; without this script it shows picture and caption.

import { sentence } from "./reading.js";

class EncodingPlate extends HTMLElement {
  connectedCallback() {
    this.picture = this.querySelector(".picture");
    this.position = this.querySelector("#plate-position");
    this.pair = this.querySelector("#plate-pair");
    this.status = this.querySelector("[role=status]");
    this.wanted = Number(this.position.value);
    this.addEventListener("input", () => this.choose());
    for (const move of ["pointermove", "pointerdown"]) {
      this.picture.addEventListener(move, (event) => this.point(event));
    }
    new ResizeObserver(() => this.fit()).observe(this.picture);
  }

  /** The side of a square cell: the height of the picture divided by the number of pairs. */
  get cell() {
    return this.picture.clientHeight / (Number(this.pair.max) + 1);
  }

  /** End the slider where the picture ends: a narrow page shows only the first positions. */
  fit() {
    if (this.picture.clientHeight === 0) return;
    const visible = Math.floor(this.picture.clientWidth / this.cell + 0.01);
    this.position.max = Math.min(visible, Number(this.dataset.positions)) - 1;
    this.position.value = this.wanted;
    this.show();
  }

  point(event) {
    const box = this.picture.getBoundingClientRect();
    this.position.value = Math.floor((event.clientX - box.left) / this.cell);
    this.pair.value = Math.floor((event.clientY - box.top) / this.cell);
    this.choose();
  }

  choose() {
    this.wanted = Number(this.position.value);
    this.show();
  }

  show() {
    const [position, pair] = [Number(this.position.value), Number(this.pair.value)];
    this.style.setProperty("--position", position);
    this.style.setProperty("--pair", pair);
    this.position.previousElementSibling.value = position;
    this.pair.previousElementSibling.value = pair;
    this.status.textContent = sentence(position, pair, Number(this.dataset.width));
  }
}

customElements.define("encoding-plate", EncodingPlate);
