"use strict";
// Test vectors of positional encodings, and the rules by which the Python package posenc judges them.

const { readFileSync } = require("node:fs");
const { join } = require("node:path");

const SINGLE = "float32 angle";
const HIDDEN = "-Infinity";
const ENOUGH = -1e4; // a bias as low as this hides a key, too
const BY_NUMBER = "hidden by a large number";
const NEARER = 4; // an answer looks like a bug if it is so many times nearer to that than to the truth
const SHOWN = 5;
const LONGEST = 100; // characters of a line that shows an input
const WRONG = ["failed", "refused"];
const [FINE, FAILED, NOT_RUN] = [0, 1, 2];

const read = (name) => JSON.parse(readFileSync(join(__dirname, name), "utf8"));
const index = read("index.json");
const suites = Object.freeze(Object.keys(index.suites));

class Unsupported extends Error {}

function load(suite) {
  if (!suites.includes(suite)) {
    throw new RangeError(`suite must be one of ${suites.join(", ")}; got ${JSON.stringify(suite)}`);
  }
  return read(index.suites[suite].file);
}

function judge(case_, answer, contract = SINGLE) {
  const told = (status, worst, like = []) => ({ case: case_, status, said: worst.said, place: worst.place, like });
  if (case_.result === "invalid") return told("unrefused", fit("answered what must be refused"));
  const tolerance = case_.tolerance[contract];
  if (!tolerance) return told("unsupported", fit(`${contract} is too loose to test this case`));
  const given = plain(answer);
  const worst =
    case_.expected === null
      ? fit("must be refused, or answered according to an accepted convention")
      : misfit(case_.expected, given, tolerance);
  if (worst.over <= 1) {
    return hidesByNumber(case_.expected, given) ? told("acceptable", worst, [BY_NUMBER]) : told("passed", worst);
  }
  for (const [name, other] of Object.entries(case_.acceptable ?? {})) {
    if (misfit(other, given, tolerance).over <= 1) return told("acceptable", worst, [name]);
  }
  if (case_.expected === null) return told("unrefused", worst);
  return told("failed", worst, candidateBugs(case_, given, contract));
}

/** The bugs whose answer this may be, the nearest first. */
function candidateBugs(case_, answer, contract) {
  const tolerance = (contract === "float64" && case_.tolerance[SINGLE]) || case_.tolerance[contract];
  const exact = !tolerance.absolute && !tolerance.relative; // integers
  const loose = exact ? tolerance : { ...tolerance, relative: Math.max(tolerance.relative, 2e-6) };
  const off = misfit(case_.expected, answer, loose).over;
  return Object.entries(case_.bugs)
    .map(([name, bug]) => [name, misfit(bug, answer, loose).over])
    .filter(([, over]) => over <= 1 && NEARER * over <= off)
    .sort(([, one], [, other]) => one - other)
    .map(([name]) => name);
}

/** Whether a bug would fail a case. */
function wouldFail({ expected, bugs, tolerance }, name, contract) {
  return name in bugs && misfit(expected, bugs[name], tolerance[contract]).over > 1;
}

const fit = (said, over = Infinity, place = "") => ({ said, over, place });

/** Whether an answer of the shape expected hides a key by a finite number. */
function hidesByNumber(expected, answer) {
  if (Array.isArray(expected)) return expected.some((inner, n) => hidesByNumber(inner, answer[n]));
  return expected === HIDDEN && Number.isFinite(Number(answer));
}

/** Where an answer is furthest from the one expected, in units of the tolerance. */
function misfit(expected, answer, tolerance, place = "") {
  if (expected === null) return fit("", 0);
  if (Array.isArray(expected)) {
    if (!Array.isArray(answer) || answer.length !== expected.length) {
      return fit(`must have ${expected.length} entries; got ${summary(answer)}`, Infinity, place);
    }
    return worstOf(expected.map((inner, n) => misfit(inner, answer[n], tolerance, `${place}[${n}]`)));
  }
  if (typeof expected === "object") {
    const names = Object.keys(expected);
    if (answer === null || typeof answer !== "object" || !names.every((name) => name in answer)) {
      return fit(`must have ${names.join(" and ")}; got ${summary(answer)}`, Infinity, place);
    }
    const inside = (name) => (place ? `${place}.${name}` : name);
    return worstOf(names.map((name) => misfit(expected[name], answer[name], tolerance, inside(name))));
  }
  return number(expected, answer, tolerance, place);
}

const worstOf = (fits) => fits.reduce((worst, one) => (one.over > worst.over ? one : worst), fit("", 0));

function number(expected, answer, tolerance, place) {
  const given = ["-Infinity", "Infinity", "NaN"].includes(answer) ? Number(answer) : answer;
  if (typeof given !== "number" || Number.isNaN(given)) {
    return fit(`must be a number; got ${summary(answer)}`, Infinity, place);
  }
  if (expected === HIDDEN) {
    return given <= ENOUGH ? fit("", 0) : fit(`must be hidden; got ${given}`, Infinity, place);
  }
  const error = Math.abs(given - expected);
  const allowed = tolerance.absolute + tolerance.relative * Math.abs(expected);
  const over = allowed ? error / allowed : error ? Infinity : 0;
  return fit(`must be ${expected}; got ${given}`, over, place);
}

function summary(value) {
  if (Array.isArray(value)) return `${value.length} entries`;
  return value && typeof value === "object" ? `an object with ${Object.keys(value).join(", ") || "nothing"}` : String(value);
}

/** Typed arrays and bigints as lists and numbers. */
function plain(value) {
  if (typeof value === "bigint") return Number(value);
  if (ArrayBuffer.isView(value) || Array.isArray(value)) return Array.from(value, plain);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
}

/** The answers of objects that a factory makes, in the order of the calls. */
function answersOfObjects(factory) {
  return ({ objects, calls }) => {
    const made = new Map();
    return calls.map(({ object, do: name, ...given }) => {
      if (!made.has(object)) made.set(object, factory(objects[object]));
      const target = made.get(object);
      if (typeof target[name] !== "function") throw new Unsupported(`${name} is not offered`);
      return target[name](given) ?? null;
    });
  };
}

function check(suite, answer, { contract = SINGLE, known = "", strict = false } = {}) {
  const { cases, refusals } = load(suite);
  mustBe("function", { answer });
  mustBe("string", { known });
  const contracts = Object.keys(cases.find(({ result }) => result === "valid").tolerance);
  if (!["float64", SINGLE, "bfloat16 result"].includes(contract)) {
    throw new RangeError(`contract must be one of ${contracts.join(", ")}; got ${JSON.stringify(contract)}`);
  }
  const differences = parseKnown(known);
  const ask = suite === "sequences" ? answersOfObjects(answer) : answer;
  const outcomes = cases
    .filter(({ flags }) => !flags.includes("withdrawn"))
    .map((case_) => ({ ...outcomeOf(case_, ask, contract), ...reasonFor(case_.id, differences) }));
  return report(outcomes, strict, contract, refusals);
}

function mustBe(type, given) {
  const [[name, value]] = Object.entries(given);
  if (typeof value !== type) throw new TypeError(`${name} must be a ${type}; got ${summary(value)}`);
}

function outcomeOf(case_, ask, contract) {
  const { input, unread } = watched(structuredClone(case_.input));
  try {
    const told = judge(case_, ask(input), contract);
    if (told.status !== "failed" || !unread.size) return told;
    return { ...told, status: "unsupported", said: `does not read ${[...unread].join(", ")}`, like: [] };
  } catch (error) {
    const told = { case: case_, said: error?.message ?? String(error), place: "", like: [] };
    if (error instanceof Unsupported) return { ...told, status: "unsupported" };
    return { ...told, status: case_.expected === null ? "passed" : "refused" };
  }
}

/** An input, and those of its names that nobody has read yet. */
function watched(given) {
  const unread = new Set(Object.keys(given));
  const input = new Proxy(given, {
    get: (target, name) => (unread.delete(name), target[name]),
    ownKeys: (target) => (unread.clear(), Reflect.ownKeys(target)),
  });
  return { input, unread };
}

/** Lines of an id or a pattern, then "#" and the reason. */
function parseKnown(text) {
  return text.split("\n").flatMap((line, n) => {
    if (!line.trim() || line.trim().startsWith("#")) return [];
    const [pattern, reason = ""] = line.split(/\s*#\s*(.*)/s);
    if (!reason.trim()) throw new SyntaxError(`known, line ${n + 1}: "#" and a reason must follow ${line.trim()}`);
    const parts = pattern.trim().split(/([*?]|\[[^\]]+\])/).map(expression);
    return [{ matches: new RegExp(`^${parts.join("")}$`), reason: reason.trim() }];
  });
}

/** The regular expression of a part of a shell pattern: "*", "?", a set such as "[1-3]", or text. */
function expression(part) {
  if (part.length > 2 && part.startsWith("[")) return `[${part.slice(1, -1).replace(/^!/, "^")}]`;
  return { "*": ".*", "?": "." }[part] ?? escaped(part);
}

const escaped = (text) => text.replace(/[.+^${}()|[\]\\*?]/g, "\\$&");

function reasonFor(id, differences) {
  const found = differences.find(({ matches }) => matches.test(id));
  return found ? { known: found.reason } : {};
}

function report(outcomes, strict, contract, refusals) {
  const wrong = ({ status }) => WRONG.includes(status) || (strict && status === "unrefused");
  const passes = ({ status }) => ["passed", "acceptable"].includes(status);
  const unexpected = outcomes.filter((one) => (one.known ? passes(one) : wrong(one)));
  const failed = outcomes.filter(({ status, known }) => status === "failed" && !known);
  const passed = outcomes.filter(({ status }) => status === "passed").map((one) => one.case);
  const explained = namedBugs(failed, passed, contract);
  const bugs = Object.fromEntries(Object.entries(explained).map(([name, ids]) => [name, ids.length]));
  const tested = outcomes.some((one) => one.status !== "unsupported" && one.case.expected !== null);
  const status = unexpected.length ? FAILED : tested ? FINE : NOT_RUN;
  const toString = () => text(outcomes, unexpected, bugs, failed.length, refusals);
  return { outcomes, unexpected, bugs, status, toString };
}

/** The failed cases that each likely bug explains: most of them, and not only cases that another explains, too.
 *  Of those that explain the same cases, the likeliest are the ones that fewest passed cases speak against. */
function namedBugs(failed, passed, contract) {
  const explained = {};
  for (const one of failed) for (const name of one.like) (explained[name] ??= []).push(one.case.id);
  const most = Object.entries(explained).filter(([, ids]) => 2 * ids.length > failed.length);
  const isEffect = (ids) => most.some(([, more]) => more.length > ids.length && ids.every((id) => more.includes(id)));
  const causes = most.filter(([, ids]) => !isEffect(ids));
  const against = (name) => passed.filter((case_) => wouldFail(case_, name, contract)).length;
  const isUnlikely = (name, ids) => {
    const equals = causes.filter(([other, same]) => other !== name && same.join() === ids.join());
    return equals.length > 0 && equals.some(([other]) => against(other) < against(name));
  };
  return Object.fromEntries(causes.filter(([name, ids]) => !isUnlikely(name, ids)));
}

function text(outcomes, unexpected, bugs, failures, refusals) {
  const counts = {};
  for (const { status, known } of outcomes) {
    const name = known && WRONG.includes(status) ? "known" : status;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  const lines = [Object.entries(counts).map(([name, count]) => `${count} ${name}`).join(", ")];
  const reasons = {};
  for (const { status, said } of outcomes) if (status === "unsupported") reasons[said] = (reasons[said] ?? 0) + 1;
  for (const [why, count] of Object.entries(reasons)) lines.push(`  unsupported: ${count}, ${why}`);
  const wrong = unexpected.filter((one) => one.status !== "unrefused");
  for (const { case: { id }, status, place, said, like, known } of wrong.slice(0, SHOWN)) {
    lines.push(known ? `  ${id} is listed as known and ${status}` : `  ${status} ${id} ${place && `at ${place} `}${said}`);
    const named = like.filter((name) => status !== "failed" || name in bugs);
    if (named.length && !known) lines.push(`    looks like: ${named.slice(0, 3).join(", ")}`);
  }
  if (wrong.length > SHOWN) lines.push(`  and ${wrong.length - SHOWN} more, in report.unexpected`);
  const unrefused = outcomes.filter((one) => one.status === "unrefused" && !one.known);
  for (const { case: { id, input, flags } } of unrefused.slice(0, SHOWN)) {
    const why = flags.map((flag) => refusals[flag]).find(Boolean) ?? "";
    lines.push(`  unrefused ${id} ${why}`.trimEnd(), `    ${JSON.stringify(input)}`.slice(0, LONGEST));
  }
  if (unrefused.length > SHOWN) lines.push(`  and ${unrefused.length - SHOWN} more unrefused`);
  const likely = Object.entries(bugs).sort(([, one], [, other]) => other - one);
  for (const [name, count] of likely.slice(0, SHOWN)) lines.push(`  ${name} explains ${count} of ${failures} failures`);
  return lines.join("\n");
}

module.exports = { Unsupported, suites, load, judge, check };
