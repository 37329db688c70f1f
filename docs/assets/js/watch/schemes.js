// The trained schemes and what can be done to them afterwards: the names of scripts/measure/methods.py,
// and the words of the page.

/** How many bytes the models were trained on at a time, and the most that the page reads. */
export const TRAINED = 64;
export const MOST = 512;
export const LAYERS = 3;
export const HEADS = 4;

export const SCHEMES = {
  none: "no positions",
  sinusoidal: "sinusoidal",
  learned: "learned",
  rope: "RoPE",
  windows_none: "windows and an open layer",
  alibi: "ALiBi",
  t5: "T5",
  shaw: "Shaw, keys only",
};

/** The first leaves a model as it was trained. */
export const RULES = {
  rope: {
    rope: "as trained",
    "rope, interpolated": "interpolated",
    "rope, NTK-aware": "NTK-aware",
    "rope, dynamic NTK": "dynamic NTK",
    "rope, Llama 3's rule": "Llama 3’s rule",
    "rope, Llama 3's rule with fitted limits": "Llama 3’s rule, fitted limits",
    "rope, YaRN with fitted limits": "YaRN, fitted limits",
    "rope, YaRN with Llama's limits": "YaRN, Llama’s limits",
    "rope, YaRN as released": "YaRN as released",
    "rope, YaRN without truncation": "YaRN, not truncated",
    "rope, LongRoPE": "LongRoPE",
  },
  learned: { learned: "as trained", "learned, interpolated": "rows interpolated" },
  windows_none: { windows_none: "as trained", "windows_none, log n": "log n" },
};

/** The rules of a scheme, with their words. */
export const rulesOf = (scheme) => RULES[scheme] ?? { [scheme]: "as trained" };

/** Whether a rule sets the model for the length of the text. */
export const dependsOnLength = (rule) => rule.includes(",");
