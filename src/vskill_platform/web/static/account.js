// What is told once: the answer of a form with data-shows="id" is written into that element, each part where data-fill names it.
"use strict";

document.addEventListener("admin:done", (event) => {
  const place = document.getElementById(event.target.dataset.shows || "");
  if (!place) return;
  for (const part of place.querySelectorAll("[data-fill]")) {
    const value = event.detail[part.dataset.fill];
    const text = Array.isArray(value) ? value.join("\n") : String(value);
    if (part.tagName === "IMG") part.src = text;
    else part.textContent = text;
  }
  place.hidden = false;
  event.target.reset();
  place.scrollIntoView({ block: "nearest" });
});
