// Runs the models apart from the page, which stays usable. It receives `id`, `scheme`, `rule` and
// `bytes`; it posts `id` and `scheme` with `surprise`, `guesses` and `attention`, or `id` with
// `trouble`, a sentence. The weights of a scheme are fetched when they are first asked for.

import { judged, run } from "./watch/model.js";
import { setFor } from "./watch/rules.js";
import { unpacked } from "./watch/weights.js";

const models = new Map();

async function fetched(scheme) {
  const address = new URL(`../weights/${scheme}.bin`, import.meta.url);
  const answer = await fetch(address).catch(() => null);
  if (!answer?.ok) {
    const why = answer ? `the server answered ${answer.status}` : "no connection";
    throw new Error(`The weights could not be fetched: ${why}. Choose a scheme to try again.`);
  }
  return unpacked(await answer.arrayBuffer());
}

/** The model of a scheme; after a failure the next call tries again. */
function modelOf(scheme) {
  if (!models.has(scheme)) {
    const model = fetched(scheme);
    model.catch(() => models.delete(scheme));
    models.set(scheme, model);
  }
  return models.get(scheme);
}

self.onmessage = async ({ data: { id, scheme, rule, bytes } }) => {
  try {
    const model = await modelOf(scheme);
    const { logits, attention } = run(model, bytes, setFor(rule, bytes.length, model.about));
    const found = { ...judged(logits, bytes), attention };
    self.postMessage({ id, scheme, ...found }, [attention.buffer]);
  } catch (error) {
    self.postMessage({ id, trouble: error.message });
  }
};
