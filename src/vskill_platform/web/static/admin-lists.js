// Lists of the panel: ticking rows, and acts on many rows with a preview of what they will touch.
//
//   data-check-all="ids"       on a box: ticks all boxes with this name
//   data-checked-count="ids"   on an element: shows how many of them are ticked
//   data-needs-checked="ids"   on a button: it cannot be pressed while none is
//
//   form[data-bulk="/api/v1/admin/submissions"]
//       its select names the act (an option's data-place says where to), data-filter has the filter of the page as JSON, and the
//       button that is pressed says with its value what is meant: "checked" rows, or "all" that match. The preview is shown
//       in [data-preview-dialog], and what is then done is the selection that the preview has made.
"use strict";

(() => {
  const { finish, sendAll, sendOnce, summary, tell } = window.adminActs;
  const checked = (name) => [...document.querySelectorAll(`input[type="checkbox"][name="${name}"]:checked`)];
  const number = (value) => value.toLocaleString("en");

  function showChecked() {
    for (const place of document.querySelectorAll("[data-checked-count]")) {
      place.textContent = number(checked(place.dataset.checkedCount).length);
    }
    for (const button of document.querySelectorAll("[data-needs-checked]")) {
      button.disabled = checked(button.dataset.needsChecked).length === 0;
    }
  }

  document.addEventListener("change", (event) => {
    const all = event.target.closest("[data-check-all]");
    if (all) {
      const boxes = document.querySelectorAll(`input[type="checkbox"][name="${all.dataset.checkAll}"]`);
      for (const box of boxes) box.checked = all.checked;
    }
    showChecked();
  });
  document.addEventListener("live:refreshed", showChecked);
  document.addEventListener("htmx:afterSwap", showChecked);
  showChecked();

  function addRow(body, { row, isTouched }) {
    const line = body.insertRow();
    const name = row.skillName || row.repoUrl.replace(/^https?:\/\//, "");
    for (const text of [name, row.state, isTouched ? "Yes" : "No"]) line.insertCell().textContent = text;
  }

  function fill(dialog, preview, title) {
    const more = preview.total - preview.selected;
    const limits = more > 0 ? ` ${number(more)} more match: do it again for them.` : "";
    dialog.querySelector("[data-preview-title]").textContent = title;
    dialog.querySelector("[data-preview-text]").textContent =
      `As of ${preview.asOf.slice(11, 19)} UTC this touches ${number(preview.touched)} of ${number(preview.selected)}` +
      ` submissions; the others do not stand so that it could. Who moves meanwhile is left alone.${limits}`;
    const body = dialog.querySelector("[data-preview-rows]");
    body.replaceChildren();
    for (const shown of preview.rows) addRow(body, shown);
    const left = preview.selected - preview.rows.length;
    dialog.querySelector("[data-preview-more]").textContent = left > 0 ? `and ${number(left)} more` : "";
    dialog.querySelector("[data-preview-yes]").disabled = preview.touched === 0;
    dialog.querySelector("[data-preview-reason]").value = "";
  }

  function ask(dialog) {
    dialog.returnValue = "";
    dialog.showModal();
    return new Promise((resolve) => {
      const closed = () => resolve(dialog.returnValue === "yes" ? dialog.querySelector("[data-preview-reason]").value : null);
      dialog.addEventListener("close", closed, { once: true });
    });
  }

  async function act(form, meant) {
    const option = form.elements.act.selectedOptions[0];
    const wanted = meant === "checked" ? { ids: checked("ids").map((box) => box.value) } : { filter: JSON.parse(form.dataset.filter) };
    const preview = await sendOnce("POST", `${form.dataset.bulk}/preview`, { act: option.value, ...wanted });
    const dialog = document.querySelector("[data-preview-dialog]");
    fill(dialog, preview, `${option.textContent.trim()}: ${number(preview.touched)} of ${number(preview.total)}`);
    const reason = await ask(dialog);
    if (reason === null) return;
    tell("Working …", "working");
    const place = option.dataset.place ? { place: option.dataset.place } : {};
    const answer = await sendAll("POST", `${form.dataset.bulk}/${option.value}`, { selection: preview.selection, reason, ...place });
    finish(summary(answer), "reload");
  }

  document.addEventListener("submit", (event) => {
    const form = event.target.closest("form[data-bulk]");
    if (!form) return;
    event.preventDefault();
    act(form, event.submitter.value).catch((error) => tell(error.message, "failed"));
  });
})();
