// The menu of a narrow screen. A page has only the part of the menu that it is in; a part that is
// closed opens in place, from the menu of its first page.

const above = (item) => item.parentElement.closest("li.md-nav__item");
const menu = (page) => page.querySelector(".md-nav--primary");

/** Return where an item of the menu is: its number in each list, from the outermost. */
function place(item) {
  const number = [...item.parentElement.children].indexOf(item);
  return above(item) ? [...place(above(item)), number] : [number];
}

/** Return the item of a page's menu at a place. */
function itemAt(page, place) {
  const below = (part, number) => part.querySelector("ul").children[number];
  return place.reduce(below, menu(page));
}

/** Make an item of another page fit for this one: whole addresses, nothing current, one list open. */
function adopt(item, address) {
  for (const contents of item.querySelectorAll(".md-nav--secondary")) contents.remove();
  for (const box of item.querySelectorAll("#__toc, [for=__toc]")) box.remove();
  for (const link of item.querySelectorAll("a")) link.href = new URL(link.getAttribute("href"), address);
  for (const box of item.querySelectorAll(":scope li input")) box.checked = false;
  for (const part of [item, ...item.querySelectorAll("*")]) {
    part.classList.remove("md-nav__item--active", "md-nav__link--active");
  }
  for (const label of item.querySelectorAll("label.md-nav__title")) label.tabIndex = 0;
  return document.adoptNode(item);
}

/** Open a closed part of the menu; where its first page cannot be read, go to that page. */
export async function unfold(link) {
  try {
    const answer = await fetch(link.href);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const item = adopt(itemAt(page, place(link.parentElement)), answer.url);
    link.parentElement.replaceWith(item);
    item.querySelector("label.md-nav__title").focus();
  } catch {
    location.assign(link.href);
  }
}
