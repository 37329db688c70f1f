// The quiz: an answer is checked where it is given, and the score is kept as long as the window is
// open. Without this script the questions, the answers and the reasons are there to be read.

const all = (selector, within = document) => [...within.querySelectorAll(selector)];

/** What has been answered on this page: for a question its last letter, and whether its first was
    right. Where the browser keeps nothing, it is kept until the page is left. */
let given = {};

const place = () => `quiz ${location.pathname}`;

function recall() {
  try {
    given = JSON.parse(sessionStorage.getItem(place())) ?? {};
  } catch {
    given = {};
  }
}

function keep() {
  try {
    sessionStorage.setItem(place(), JSON.stringify(given));
  } catch {
    // it may be forbidden, or full
  }
}

function score() {
  const first = Object.values(given).map((answer) => answer.first);
  return `${first.filter(Boolean).length} of ${first.length} right at the first try`;
}

function showScore() {
  for (const line of all(".score")) {
    const left = line.dataset.questions - Object.keys(given).length;
    const none = `None of ${line.dataset.questions} questions answered yet.`;
    const rest = left ? `, ${left} to go` : "";
    const some = `${score()}${rest}.`;
    line.firstElementChild.textContent = Object.keys(given).length ? some : none;
  }
}

const reason = (question, letter) => question.querySelector(`[data-letter=${letter}]`);

/** Say whether an answer is right, and why; what is said is read aloud. */
function say(question, letter, more = "") {
  const copy = reason(question, letter).cloneNode(true);
  for (const part of all("[id]", copy)) part.removeAttribute("id");
  const note = document.createElement("p");
  note.className = "so-far";
  note.textContent = more;
  question.querySelector(".reply").replaceChildren(copy, ...(more ? [note] : []));
}

/** A verdict is on the answer that was checked, and goes when another is chosen. */
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
  say(question, letter, `So far: ${score()}.`);
}

/** Show what has been answered, and read nothing of it aloud. */
function show() {
  for (const question of all(".question")) {
    const letter = given[question.id]?.letter;
    const reply = question.querySelector(".reply");
    reply.ariaLive = "off";
    for (const input of all("input", question)) input.checked = input.value === letter;
    if (letter) say(question, letter);
    else reply.replaceChildren();
    setTimeout(() => (reply.ariaLive = "polite"), 500);
  }
  showScore();
}

/** The theme brings a page anew each time it is opened. */
function open() {
  recall();
  show();
}

function startAgain() {
  given = {};
  keep();
  show();
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
window.document$.subscribe(open);
