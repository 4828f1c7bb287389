// Runs before the page is drawn, so that a chosen theme never flashes; without a choice the system's counts.
(function () {
  let chosen = null;
  try {
    chosen = localStorage.getItem("theme");
  } catch {
    // a browser that stores nothing still shows the page
  }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
