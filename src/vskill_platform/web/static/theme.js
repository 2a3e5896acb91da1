// Before anything is drawn: the colours that this reader has chosen, if any. Without a choice the system decides.
(function () {
  try {
    var chosen = localStorage.getItem("theme");
    if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
  } catch (error) {
    // Storage may be closed to us; then the system decides.
  }
})();
