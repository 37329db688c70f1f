/* Formal statements, copied from the page that has them all into a fold that names some. */

import { watch } from "./listing.js";

const pages = {}; // by address

/** Return a page of the site, parsed. */
async function pageAt(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address}: status ${answer.status}`);
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

/** Return the entry of a theorem: its listing, and the lines on what it uses and assumes. */
function entry(page, name) {
  const parts = [];
  let part = page.getElementById(name)?.nextElementSibling;
  for (; part && (!parts.length || part.matches(".uses")); part = part.nextElementSibling) parts.push(part);
  return parts;
}

/** Put the statements that a fold links to below their links; without them the links remain. */
export async function fill(fold) {
  const links = [...fold.querySelectorAll("a")];
  const address = links[0].href.split("#")[0];
  pages[address] ??= pageAt(address);
  const page = await pages[address].catch(() => delete pages[address] && undefined);
  if (!page) return;
  const below = document.createElement("div");
  below.className = "names";
  for (const part of links.flatMap((link) => entry(page, link.hash.slice(1)))) {
    const copy = document.importNode(part, true);
    for (const link of copy.querySelectorAll("a[href]")) {
      link.href = new URL(link.getAttribute("href"), address);
    }
    for (const named of copy.querySelectorAll("[id]")) named.removeAttribute("id");
    copy.removeAttribute("id");
    below.append(copy);
  }
  fold.append(below);
  below.querySelectorAll("pre > code").forEach(watch);
}
