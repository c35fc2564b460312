// Language, appearance, keys, and where a consultation is kept.

import { h } from "../dom";
import { CATALOGUES, type Language } from "../i18n";
import type { Keep, Settings, Theme } from "../settings";
import { openModal } from "./dialog";

export interface OptionsActions {
  change(settings: Settings): void;
  print(): void;
  save(): void;
}

export function optionsDialog(lang: Language, settings: Settings, actions: OptionsActions): void {
  const select = (id: string, title: string, chosen: string, options: [string, string][], set: (value: string) => Partial<Settings>): HTMLElement => {
    const made = h("select", { id }, ...options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)));
    made.addEventListener("change", () => {
      modal.close();
      actions.change({ ...settings, ...set(made.value) });
    });
    return h("div", { class: "option" }, h("label", { for: id }, title), made);
  };
  const keys = h("input", { id: "keys", type: "checkbox", checked: settings.keys, "aria-describedby": "keys-hint" });
  keys.addEventListener("change", () => actions.change({ ...settings, keys: keys.checked }));
  const languages = Object.entries(CATALOGUES).map(([code, { name }]): [string, string] => [code, name]);
  const button = (text: string, act: () => void): HTMLElement => h("button", { type: "button", on: { click: () => (modal.close(), act()) } }, text);
  const modal = openModal(lang.t("menu"), [
    select("language", lang.t("language"), settings.language, languages, (language) => ({ language })),
    select(
      "theme",
      lang.t("theme"),
      settings.theme,
      [
        ["auto", lang.t("theme_auto")],
        ["light", lang.t("theme_light")],
        ["dark", lang.t("theme_dark")],
      ],
      (theme) => ({ theme: theme as Theme }),
    ),
    select(
      "keep",
      lang.t("keep"),
      settings.keep,
      [
        ["tab", lang.t("keep_tab")],
        ["address", lang.t("keep_address")],
        ["none", lang.t("keep_none")],
      ],
      (keep) => ({ keep: keep as Keep }),
    ),
    h("div", { class: "option" }, h("label", { class: "check" }, keys, h("span", {}, lang.t("keys"))), h("p", { id: "keys-hint", class: "hint" }, lang.t("keys_hint"))),
    h("div", { class: "row" }, button(lang.t("print"), actions.print), button(lang.t("export"), actions.save)),
    h("div", { class: "row end" }, h("button", { type: "button", class: "main", on: { click: () => modal.close() } }, lang.t("close"))),
  ]);
}
