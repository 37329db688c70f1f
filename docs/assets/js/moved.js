// Leads on from the old address of a place to the page of the chapter that has it now.

/** Return the link to the page that has what an address names, if it is another page. */
function linkTo({ hash, search }) {
  if (hash.length > 1) {
    const place = document.getElementById(decodeURIComponent(hash.slice(1)));
    return place?.closest(".places a");
  }
  const names = [...new URLSearchParams(search).keys()].map((key) => key.split(".")[0]);
  return names.map((name) => document.querySelector(`.places [data-views~="${CSS.escape(name)}"]`)).find(Boolean);
}

function leadOn() {
  const link = linkTo(location);
  if (link) location.replace(link.pathname + location.search + location.hash);
}

addEventListener("hashchange", leadOn);
leadOn();
