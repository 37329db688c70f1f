// posenc vectors run -- node rotation.mjs
// SPDX-License-Identifier: MIT
import { createInterface } from "node:readline";

function rope(x, positions, base) {
  return x.map((row, n) => {
    const half = row.length / 2;
    const turned = [...row];
    for (let i = 0; i < half; i++) {
      const angle = positions[n] * base ** (-i / half);
      turned[i] = row[i] * Math.cos(angle) - row[i + half] * Math.sin(angle);
      turned[i + half] = row[i] * Math.sin(angle) + row[i + half] * Math.cos(angle);
    }
    return turned;
  });
}

function answer({ x, positions, layout, base = 10000, ...more }) {
  const whole = layout === "half" && Object.keys(more).length === 0 && !Array.isArray(x[0][0]);
  if (!whole) return { unsupported: "only whole heads, in halves, without a batch" };
  return { ok: rope(x, positions, base) };
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, request, input } = JSON.parse(line);
  const told = request ? { suites: ["rotation"], contract: "float64" } : { id, ...answer(input) };
  console.log(JSON.stringify(told));
});
