// What a page does beyond reading: the choice of colours, copying, and the key that goes to the search field.
(function () {
  "use strict";
  const root = document.documentElement;

  function isDark() {
    return root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  }

  function startThemeSwitch() {
    for (const button of document.querySelectorAll("[data-theme-switch]")) {
      const tell = () => button.setAttribute("aria-pressed", String(isDark()));
      button.hidden = false;
      tell();
      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", tell);
      button.addEventListener("click", () => {
        root.dataset.theme = isDark() ? "light" : "dark";
        try {
          localStorage.setItem("theme", root.dataset.theme);
        } catch (error) {
          // Without storage the choice holds for this page.
        }
        tell();
      });
    }
  }

  // A page is the same for everybody, so that it can be kept. Who is signed in gets a menu, asked for apart.
  async function showAccount() {
    const place = document.querySelector("[data-account]");
    if (!place || !/(^|; )signed-in=1/.test(document.cookie)) return;
    try {
      const answer = await fetch("/account/menu");
      if (answer.ok) place.innerHTML = await answer.text();
    } catch (error) {
      // The way in stays, and leads on to the account.
    }
  }

  function showCopyButtons() {
    if (!navigator.clipboard) return;
    for (const button of document.querySelectorAll("[data-copy][hidden]")) button.hidden = false;
  }

  async function copy(button) {
    const source = document.getElementById(button.dataset.copy);
    const word = button.querySelector("[data-copy-word]");
    if (!source || !word) return;
    try {
      await navigator.clipboard.writeText(source.textContent);
      word.textContent = "Copied";
    } catch (error) {
      word.textContent = "Press Ctrl+C";
      getSelection().selectAllChildren(source);
    }
    setTimeout(() => (word.textContent = "Copy"), 2000);
  }

  function isTyping(target) {
    return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy]");
    if (button) copy(button);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    const field = document.querySelector("main [data-search]") || document.querySelector("[data-search]");
    if (!field) return;
    event.preventDefault();
    field.focus();
    field.select();
  });
  function tellFailure(hasFailed) {
    for (const notice of document.querySelectorAll("[data-failed]")) notice.hidden = !hasFailed;
  }

  for (const failure of ["htmx:responseError", "htmx:sendError", "htmx:timeout"]) {
    document.addEventListener(failure, () => tellFailure(true));
  }
  document.addEventListener("htmx:afterSwap", () => tellFailure(false));
  document.addEventListener("htmx:afterSettle", showCopyButtons);
  startThemeSwitch();
  showCopyButtons();
  showAccount();
})();
