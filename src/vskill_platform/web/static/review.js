// The review desk by keyboard: j and k go to the next and the previous finding. A finding of the file that is shown is jumped
// to at once; for one of another file the page is asked for again, at the address that the finding's link has.
"use strict";

(() => {
  const links = [...document.querySelectorAll("[data-finding]")];
  const source = document.querySelector(".source");

  function chosen() {
    return links.findIndex((link) => link.hasAttribute("aria-current"));
  }

  function jump(link) {
    const row = document.getElementById(`L${link.dataset.line}`);
    for (const marked of document.querySelectorAll(".source tr.here")) marked.classList.remove("here");
    if (!row || !source) return;
    row.classList.add("here");
    source.scrollTop = row.offsetTop - source.clientHeight / 3;
  }

  function go(step) {
    if (!links.length) return;
    const at = chosen();
    const next = at < 0 ? 0 : Math.min(Math.max(at + step, 0), links.length - 1);
    if (next !== at) location.assign(links[next].href);
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, dialog")) return;
    if (event.key === "j") go(1);
    else if (event.key === "k") go(-1);
  });

  const choice = document.querySelector("[data-file-choice]");
  if (choice) choice.querySelector("select").addEventListener("change", () => choice.requestSubmit());

  const current = links[chosen()];
  if (current) {
    jump(current);
    current.scrollIntoView({ block: "nearest" });
  }
})();
