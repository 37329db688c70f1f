// The quiz: checks answers on the spot, and keeps the score while the tab is open. Without this
// script readers can still see the questions, the answers and the reasons. A quiz may have several
// pages in one folder: each page shows its own score, and that of all pages.

const all = (selector, within = document) => [...within.querySelectorAll(selector)];

const KEY = `quiz ${new URL("..", location).pathname}`;

/** The answers given in this folder: for each question the last letter, and whether the first answer
    was right. If the browser has no storage, they are lost when the reader leaves the page. */
let given = recalled();

function recalled() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY)) ?? {};
  } catch {
    return {};
  }
}

function keep() {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(given));
  } catch {
    // storage may be forbidden or full
  }
}

const isHere = (name) => document.getElementById(name)?.matches(".question");
const answersHere = () => Object.entries(given).flatMap(([name, answer]) => (isHere(name) ? [answer] : []));

function score(answers) {
  return `${answers.filter((answer) => answer.first).length} of ${answers.length} right at the first try`;
}

function showScore() {
  const here = answersHere();
  const everywhere = Object.values(given);
  for (const line of all(".score")) {
    const left = line.dataset.questions - here.length;
    const none = `None of ${line.dataset.questions} questions answered yet.`;
    const some = `${score(here)}${left ? `, ${left} to go` : ""}.`;
    const whole = everywhere.length > here.length ? ` On all pages of the quiz: ${score(everywhere)}.` : "";
    line.firstElementChild.textContent = (here.length ? some : none) + whole;
  }
}

const reason = (question, letter) => question.querySelector(`[data-letter=${letter}]`);

/** Show whether an answer is right, and why. Screen readers announce it, without the ledger's marks. */
function say(question, letter, more = "") {
  const copy = reason(question, letter).cloneNode(true);
  for (const part of all("[id]", copy)) part.removeAttribute("id");
  for (const mark of all(".ledger", copy)) mark.remove();
  const note = document.createElement("p");
  note.className = "so-far";
  note.textContent = more;
  question.querySelector(".reply").replaceChildren(copy, ...(more ? [note] : []));
}

/** Remove the verdict when another answer is chosen. */
function forget(question) {
  question.querySelector(".reply").replaceChildren();
}

function check(question) {
  const letter = question.querySelector("input:checked")?.value;
  if (!letter) {
    question.querySelector(".reply").textContent = "Choose an answer first.";
    return;
  }
  const first = given[question.id]?.first ?? reason(question, letter).matches(".right");
  given[question.id] = { letter, first };
  keep();
  showScore();
  say(question, letter, `So far: ${score(Object.values(given))}.`);
}

/** Show the stored answers, without announcing them to screen readers. A choice that the reader made
    before this script had loaded stays. */
function restore() {
  for (const name of Object.keys(given).filter(isHere)) {
    const question = document.getElementById(name);
    const reply = question.querySelector(".reply");
    const { letter } = given[name];
    const chosen = question.querySelector("input:checked")?.value ?? letter;
    if (chosen !== letter) continue;
    reply.ariaLive = "off";
    question.querySelector(`input[value=${letter}]`).checked = true;
    say(question, letter);
    setTimeout(() => (reply.ariaLive = "polite"), 500);
  }
  showScore();
}

/** Forget the answers given on this page. */
function startAgain() {
  given = Object.fromEntries(Object.entries(given).filter(([name]) => !isHere(name)));
  keep();
  for (const input of all(".question input")) input.checked = false;
  all(".question").forEach(forget);
  showScore();
  document.querySelector(".question input").focus();
}

addEventListener("click", ({ target }) => {
  if (target.matches(".question .check")) check(target.closest(".question"));
  if (target.matches(".score button")) startAgain();
});
addEventListener("change", ({ target }) => {
  if (target.matches(".question input")) forget(target.closest(".question"));
});
addEventListener("keydown", ({ key, target }) => {
  if (key === "Enter" && target.matches(".question input")) check(target.closest(".question"));
});
restore();
