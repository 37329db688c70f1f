// The ledger's filter: shows the claims of the chosen sources with the chosen verdicts. The choice
// is stored in the address, so that a view can be shared. Without this script all claims are shown.

const NAMES = ["source", "verdict"];

const boxes = (form, name) => [...form.querySelectorAll(`[name=${name}]`)];

const chosen = (form, name) => boxes(form, name).filter((box) => box.checked).map((box) => box.value);

/** Check the boxes that the address names. */
function read(form) {
  const query = new URLSearchParams(location.search);
  for (const name of NAMES) {
    const wanted = (query.get(name) ?? "").split(",");
    for (const box of boxes(form, name)) box.checked = wanted.includes(box.value);
  }
}

/** Write the checked boxes to the address. */
function write(form) {
  const address = new URL(location);
  for (const name of NAMES) {
    address.searchParams.delete(name);
    if (chosen(form, name).length) address.searchParams.set(name, chosen(form, name).join(","));
  }
  const readable = address.href.replaceAll("%2C", ",");
  history.replaceState(null, "", readable);
}

/** Show the claims that match the checked boxes; a group without a checked box matches all. */
function show(form) {
  const claims = [...document.querySelectorAll("article.claim")];
  const wanted = NAMES.map((name) => [name, chosen(form, name)]);
  for (const claim of claims) {
    claim.hidden = !wanted.every(([name, some]) => !some.length || some.includes(claim.dataset[name]));
  }
  for (const { value } of boxes(form, "source")) {
    const own = claims.filter((claim) => claim.dataset.source === value);
    document.getElementById(value).hidden = own.every((claim) => claim.hidden);
  }
  const left = claims.filter((claim) => !claim.hidden).length;
  form.querySelector("output").value = `${left} of ${claims.length} claims`;
}

const form = document.getElementById("ledger-filter");
const changed = () => (write(form), show(form));
read(form);
show(form);
form.addEventListener("change", changed);
form.addEventListener("reset", () => setTimeout(changed));
form.addEventListener("submit", (event) => event.preventDefault());
