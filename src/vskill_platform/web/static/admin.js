// Buttons of the panel. A form with data-api="POST /api/v1/admin/…" sends its fields as JSON to that address.
//
//   data-title, data-text    a dialog that asks first
//   data-reason              the dialog also asks for the reason, under this label; it is sent as `reason`
//   data-many="ids"          on the form: the values of the checked boxes with this name on the page are sent as a list
//   data-sends="ids"         on the form: the name that this list is sent as, where it is not that of the boxes
//   data-list                on a field: it is sent as a list of one
//   data-number              on a field: it is sent as a number; an empty one is left out
//   data-lines               on a field: its lines are sent as a list of texts, without empty ones
//   data-then                "reload" (default), an address to go to, or "stay"
//
// What came of it is told in the page's status line, in the words of the answer, also after the page was loaded again.
"use strict";

(() => {
  const KEPT = "admin-status";
  const LEFT = ["skipped", "failed", "kept", "refused", "lost", "under_way"];

  function tell(text, value) {
    const line = document.querySelector("[data-admin-status]");
    if (!line) return;
    line.textContent = text;
    line.dataset.value = value;
    line.hidden = !text;
  }

  function ask(form) {
    const dialog = document.querySelector("[data-admin-dialog]");
    if (!form.dataset.title || !dialog) return Promise.resolve({});
    const field = dialog.querySelector("[data-dialog-field]");
    const reason = dialog.querySelector("[data-dialog-reason]");
    const text = dialog.querySelector("[data-dialog-text]");
    dialog.querySelector("[data-dialog-title]").textContent = form.dataset.title;
    text.textContent = form.dataset.text || "";
    text.hidden = !form.dataset.text;
    field.hidden = !form.dataset.reason;
    reason.required = Boolean(form.dataset.reason);
    reason.value = "";
    dialog.querySelector("[data-dialog-label]").textContent = form.dataset.reason || "";
    dialog.returnValue = "";
    dialog.showModal();
    return new Promise((resolve) => {
      const closed = () => resolve(dialog.returnValue === "yes" ? (form.dataset.reason ? { reason: reason.value } : {}) : null);
      dialog.addEventListener("close", closed, { once: true });
    });
  }

  function fields(form) {
    const body = {};
    for (const element of form.elements) {
      if (!element.name || element.disabled) continue;
      if (element.type === "checkbox") body[element.name] = element.checked;
      else if (element.type === "radio" && !element.checked) continue;
      else if ("lines" in element.dataset) body[element.name] = element.value.split("\n").map((line) => line.trim()).filter(Boolean);
      else if ("number" in element.dataset) {
        if (element.value !== "") body[element.name] = Number(element.value);
      } else if ("list" in element.dataset) body[element.name] = [element.value];
      else body[element.name] = element.value;
    }
    const many = form.dataset.many;
    if (many) {
      const boxes = document.querySelectorAll(`input[type="checkbox"][name="${many}"]:checked`);
      body[form.dataset.sends || many] = [...boxes].map((box) => box.value);
    }
    return body;
  }

  function summary(answer) {
    if (!answer || typeof answer !== "object") return "Done.";
    if (typeof answer.total === "number") {
      const told = `${answer.done} of ${answer.total} done, ${answer.skipped} skipped, ${answer.failed} failed.`;
      const left = (answer.outcomes || []).find((item) => LEFT.includes(item.outcome));
      return left ? `${told} ${left.detail}` : told;
    }
    return answer.detail || "Done.";
  }

  // An answer with `next` tells of a part of what was asked for: the rest is asked for until there is none.
  async function sendAll(method, address, body) {
    let answer = await sendOnce(method, address, body);
    const sum = answer;
    while (answer && answer.next) {
      tell(`${sum.total} done so far …`, "working");
      answer = await sendOnce(method, address, { ...body, from: answer.next });
      for (const name of ["done", "skipped", "failed", "total"]) sum[name] += answer[name];
      sum.outcomes.push(...answer.outcomes);
    }
    return sum;
  }

  async function send(form, reason) {
    const [method, address] = form.dataset.api.split(" ");
    tell("Working …", "working");
    return sendAll(method, address, { ...fields(form), ...reason });
  }

  async function sendOnce(method, address, body) {
    const answer = await fetch(address, {
      method,
      headers: { "Content-Type": "application/json", Accept: "application/json" },
      body: JSON.stringify(body),
      credentials: "same-origin",
    });
    const told = await answer.json().catch(() => null);
    if (!answer.ok) throw new Error((told && told.detail) || `The server answered ${answer.status}.`);
    return told;
  }

  function finish(text, then) {
    if (then === "stay") {
      tell(text, "done");
      return;
    }
    sessionStorage.setItem(KEPT, text);
    if (then === "reload") location.reload();
    else location.assign(then);
  }

  async function run(form) {
    const reason = await ask(form);
    if (reason === null) return;
    const buttons = form.querySelectorAll("button");
    for (const button of buttons) button.disabled = true;
    try {
      const answer = await send(form, reason);
      const text = summary(answer);
      form.dispatchEvent(new CustomEvent("admin:done", { bubbles: true, detail: answer }));
      finish(text, form.dataset.then || "reload");
    } catch (error) {
      tell(error.message, "failed");
    } finally {
      for (const button of buttons) button.disabled = false;
    }
  }

  document.addEventListener("submit", (event) => {
    const form = event.target.closest("form[data-api]");
    if (!form) return;
    event.preventDefault();
    run(form);
  });
  window.adminActs = { finish, sendAll, sendOnce, summary, tell };
  const kept = sessionStorage.getItem(KEPT);
  if (kept) {
    sessionStorage.removeItem(KEPT);
    tell(kept, "done");
  }
})();
