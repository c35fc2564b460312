// What stands around a consultation: the header, notices, signing in, and the line on a print.

import { $, fill, h } from "../dom";
import type { Language } from "../i18n";
import type { ModelInfo } from "../types";
import type { View } from "./view";

export interface HeaderActions {
  choose(name: string): void;
  startNew(): void;
  options(): void;
}

export function drawHeader(lang: Language, models: readonly string[], about: ModelInfo | null, actions: HeaderActions): void {
  const select = h("select", { id: "model" }, ...models.map((name) => h("option", { value: name, selected: name === about?.name }, name)));
  select.addEventListener("change", () => actions.choose(select.value));
  fill(
    $("header"),
    h("h1", {}, h("span", { class: "brand" }, "Farthing"), h("span", { class: "subject" }, about?.title || lang.t("page_title"))),
    h("div", { class: "pick" }, h("label", { for: "model" }, lang.t("model")), select),
    h("button", { id: "new-row", type: "button", class: "quiet", on: { click: actions.startNew } }, lang.t("new")),
    h("button", { id: "options", type: "button", class: "quiet", on: { click: actions.options } }, lang.t("menu")),
  );
}

export function notice(
  lang: Language,
  title: string,
  said: readonly string[],
  dismiss: () => void,
  action: { text: string; act: () => void } | null,
  role: "status" | "alert" = "status",
): HTMLElement {
  return h(
    "div",
    { class: "notice", role },
    title !== "" && h("h2", { tabindex: -1 }, title),
    said.length === 1 ? h("p", {}, said[0]) : h("ul", {}, ...said.map((text) => h("li", {}, text))),
    h(
      "div",
      { class: "row" },
      action && h("button", { type: "button", class: "quiet", on: { click: action.act } }, action.text),
      h("button", { type: "button", class: "quiet", on: { click: dismiss } }, lang.t("dismiss")),
    ),
  );
}

let attempts = 0;

export function loginForm(lang: Language, signIn: (token: string) => void): HTMLElement {
  const input = h("input", { id: "token", type: "password", autocomplete: "current-password", "aria-describedby": "token-hint token-error" });
  const form = h(
    "form",
    { id: "login", class: "card", "aria-labelledby": "login-title" },
    h("h2", { id: "login-title" }, lang.t("token_title")),
    h("label", { for: "token" }, lang.t("token")),
    h("div", { class: "row" }, input, h("button", { class: "main" }, lang.t("sign_in"))),
    h("p", { id: "token-hint", class: "hint" }, lang.t("token_hint")),
    h("p", { id: "token-error", class: "field-error", role: "alert" }, attempts > 0 ? lang.t("token_wrong") : ""),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    attempts += 1;
    signIn(input.value);
  });
  setTimeout(() => input.focus());
  return form;
}

export function drawPrintNote(view: View): void {
  const date = new Intl.DateTimeFormat(view.lang.code, { dateStyle: "long", timeStyle: "short" }).format(new Date());
  $("print-note").textContent = view.lang.t("printed", { date, model: view.made.model, version: view.made.version });
}
