// The form that asks for a token.

import { el } from "../dom.js";
import { heading } from "../parts.js";

export function tokenForm({ wrong, onToken }) {
  const field = el("input", {
    id: "token",
    type: "password",
    autocomplete: "off",
    spellcheck: "false",
    required: true,
    autofocus: true,
    "aria-describedby": wrong ? "token-wrong token-about" : "token-about",
    "aria-invalid": wrong ? "true" : null,
    "data-key": "token",
  });
  const form = el(
    "form",
    { class: "token" },
    el("label", { for: "token" }, "Token"),
    el("div", { class: "together" }, field, el("button", { type: "submit" }, "Continue")),
    wrong && el("p", { class: "wrong", id: "token-wrong", role: "alert" }, `${wrong}.`),
    el(
      "p",
      { class: "soft small", id: "token-about" },
      "Stored only for this tab; removed when the tab is closed.",
    ),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (field.value.trim()) onToken(field.value.trim());
  });
  return [
    heading("Token required"),
    el(
      "section",
      { class: "card narrow" },
      form,
      el("p", {}, "On your own machine, ", el("code", {}, "holdfast open"), " opens this page without one. A team's administrator can create one with:"),
      el("pre", {}, "holdfast team token create NAME --scope read"),
    ),
  ];
}
