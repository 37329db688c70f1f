// Brings the articles of all pages into the page that is open, the first of the site.

/** The name of a page within the whole, from its path. */
const nameOf = path => path.replace(/\/$/, "").replaceAll("/", ".") || "contents";

/** Parts that are of use in a browser alone. */
const CONTROLS =
  "script, style, template, button, picture > source, .headerlink, .footnote-backref, .reader, .copy, .places";

/** Attributes that name other parts of a page. */
const NAMING = ["aria-describedby", "aria-labelledby", "aria-controls", "for", "headers"];

/** Folds that are open on paper: not those of source code, which the package has. */
const TO_OPEN = "details:is(.solution, .reasons, .sources)";

/** Move the headings of a page that continues a chapter one level down, below those of its first page. */
function continueChapter(article) {
  article.classList.add("continues");
  for (const level of [5, 4, 3, 2, 1]) {
    for (const heading of article.querySelectorAll(`h${level}`)) {
      const lower = document.createElement(`h${level + 1}`);
      for (const { name, value } of heading.attributes) lower.setAttribute(name, value);
      lower.append(...heading.childNodes);
      heading.replaceWith(lower);
    }
  }
}

/** Return the article of a page, with addresses that hold anywhere.

    `pages` are the paths of all pages, `later` of those that continue a chapter, `target` returns the address of a place in one of them, and
    `site` is where the site will be published; without it, links to its other files are dropped. */
async function articleOf(path, { pages, later, site, target }) {
  const home = new URL(".", location.href);
  const url = new URL(path, home);
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url.pathname}: status ${answer.status}`);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const article = page.querySelector("article");
  for (const control of article.querySelectorAll(CONTROLS)) control.remove();
  for (const part of article.querySelectorAll("[id]")) part.id = `${nameOf(path)}.${part.id}`;
  for (const name of NAMING) {
    for (const part of article.querySelectorAll(`[${name}]`)) {
      const named = part.getAttribute(name).trim().split(/\s+/);
      part.setAttribute(name, named.map(one => `${nameOf(path)}.${one}`).join(" "));
    }
  }
  for (const picture of article.querySelectorAll("img")) {
    picture.src = new URL(picture.getAttribute("src"), url);
    picture.loading = "eager";
  }
  for (const link of article.querySelectorAll("a[href]")) {
    const to = new URL(link.getAttribute("href"), url);
    if (!to.href.startsWith(home.href)) continue;
    const inside = to.pathname.slice(home.pathname.length);
    const place = to.hash && `.${decodeURIComponent(to.hash.slice(1))}`;
    if (pages.includes(inside)) link.setAttribute("href", target(nameOf(inside), place));
    else if (site) link.href = new URL(inside, site);
    else link.replaceWith(...link.childNodes);
  }
  article.id = nameOf(path);
  if (later.includes(path)) continueChapter(article);
  return article;
}

/** Show all pages in the one that is open, ready to be printed, and return the chapters' titles. */
async function gathered({ pages, later, site }) {
  const articles = [];
  for (const path of pages) {
    const target = (name, place) => `#${name}${place}`;
    articles.push(await articleOf(path, { pages, later, site, target }));
  }
  for (const fold of articles.flatMap(one => [...one.querySelectorAll(TO_OPEN)])) fold.open = true;
  document.body.replaceChildren(...articles);
  await Promise.all([...document.images].map(picture => picture.decode()));
  await document.fonts.ready;
  const titles = articles.map(one => one.querySelector("h1")).filter(Boolean);
  return titles.map(title => title.textContent.trim());
}

/** Parts that an e-book cannot use: formulas drawn for a browser beside their MathML, pictures for
    dark pages, and what only scripts fill. */
const FOR_BROWSERS = ".katex-html, .only-dark, [src$='#only-dark'], noscript, input, output, dialog";

/** Return each page as XHTML, with the addresses of its pictures. */
async function chapters({ pages, later, site }) {
  const target = (name, place) => `${name}.xhtml${place && `#${name}${place}`}`;
  const found = [];
  for (const path of pages) {
    const article = await articleOf(path, { pages, later, site, target });
    for (const part of article.querySelectorAll(FOR_BROWSERS)) part.remove();
    for (const form of article.querySelectorAll("form")) form.replaceWith(...form.childNodes);
    for (const name of NAMING) {
      for (const part of article.querySelectorAll(`[${name}]`)) {
        if (!article.querySelector(`#${CSS.escape(part.getAttribute(name))}`)) part.removeAttribute(name);
      }
    }
    for (const part of article.querySelectorAll("*")) {
      for (const name of part.getAttributeNames()) if (ATTRIBUTES.test(name)) part.removeAttribute(name);
      if (part.localName.includes("-")) part.replaceWith(...part.childNodes);
    }
    const pictures = [...article.querySelectorAll("img")].map(picture => {
      const { pathname } = new URL(picture.src);
      const name = pathname.split("/").at(-1);
      picture.setAttribute("src", `pictures/${name}`);
      return { name, path: pathname.slice(new URL(".", location.href).pathname.length) };
    });
    const text = new XMLSerializer().serializeToString(article);
    found.push({ name: nameOf(path), text, pictures });
  }
  return found;
}

/** Attributes that mean something in a browser alone. */
const ATTRIBUTES = /^(data-.*|loading|decoding|tabindex|aria-description|onclick|contenteditable)$/;
