// Escape hides the sentences of a term that the style sheet shows on hover and focus, until the
// pointer or the focus comes back.

addEventListener("keydown", ({ key }) => {
  if (key !== "Escape") return;
  for (const term of document.querySelectorAll("a.term:is(:hover, :focus)")) {
    term.classList.add("closed");
  }
});

for (const leaving of ["pointerout", "focusout"]) {
  addEventListener(leaving, ({ target }) => target.classList?.remove("closed"));
}
