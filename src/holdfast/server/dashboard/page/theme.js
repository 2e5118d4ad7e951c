// Light, dark, or as the system says. Loaded before anything is painted.
"use strict";
(() => {
  const choices = ["auto", "light", "dark"];
  const names = { auto: "Theme: system", light: "Theme: light", dark: "Theme: dark" };

  function kept() {
    try {
      const found = localStorage.getItem("holdfast.theme");
      return choices.includes(found) ? found : "auto";
    } catch {
      return "auto"; // storage is switched off
    }
  }

  function apply(choice) {
    document.documentElement.dataset.theme = choice;
    const button = document.getElementById("theme");
    if (button) button.textContent = names[choice];
  }

  let choice = kept();
  apply(choice);
  document.addEventListener("DOMContentLoaded", () => {
    apply(choice);
    document.getElementById("theme").addEventListener("click", () => {
      choice = choices[(choices.indexOf(choice) + 1) % choices.length];
      try {
        localStorage.setItem("holdfast.theme", choice);
      } catch {
        // then it holds until the page is left
      }
      apply(choice);
    });
  });
})();
