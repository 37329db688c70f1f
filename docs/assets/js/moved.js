// Leads on from the old address of a place to the page that has it now.

/** Return the link to the page that has what an address names, if it is another page. */
function linkTo({ hash, search }) {
  if (hash.length > 1) {
    const place = document.getElementById(decodeURIComponent(hash.slice(1)));
    return place?.closest(".places a");
  }
  const names = [...new URLSearchParams(search).keys()].map((key) => key.split(".")[0]);
  return names.map((name) => document.querySelector(`.places [data-views~="${CSS.escape(name)}"]`)).find(Boolean);
}

/** Return the address that one leads on to: of a page that is no more, its links know the anchors. */
function nextAddress() {
  const link = linkTo(location) ?? document.querySelector(".left a");
  return link && link.pathname + location.search + (link.closest(".left") ? link.hash : location.hash);
}

function leadOn() {
  const address = nextAddress();
  if (address) location.replace(address);
}

addEventListener("hashchange", leadOn);
leadOn();
