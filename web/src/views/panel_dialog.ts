// Several tests ordered at once: what they are, what they cost together, and their results in one form.

import type { Entry } from "../consultation";
import { type Field, valueField } from "../control";
import { fill, h } from "../dom";
import type { Ask } from "../types";
import { openModal } from "./dialog";
import { type View, money } from "./view";

const COUNTS = [2, 3, 4, 5, 8];
const FIRST = 3;

interface Doing {
  /** Ask the service for up to so many tests. */
  look(count: number): Promise<Ask[]>;
  apply(entries: Entry[]): void;
}

export function panelDialog(view: View, doing: Doing): void {
  const { lang } = view;
  const count = h("select", { id: "panel-count" }, ...COUNTS.map((n) => h("option", { value: n, selected: n === FIRST }, String(n))));
  const place = h("div", { id: "panel-tests", "aria-live": "polite" });
  const error = h("p", { class: "field-error", role: "alert" });
  const modal = openModal(lang.t("panel_title"), [
    h("p", { class: "note" }, lang.t("panel_hint")),
    h("div", { class: "row" }, h("label", { for: "panel-count" }, lang.t("panel_count")), count),
    error,
    place,
    h("div", { class: "row end" }, h("button", { type: "button", on: { click: () => modal.close() } }, lang.t("cancel"))),
  ], undefined, "broad");
  let turn = 0;
  const look = async (): Promise<void> => {
    const mine = ++turn;
    error.textContent = "";
    try {
      const asks = await doing.look(Number(count.value));
      if (mine !== turn) return;
      fill(place, resultsForm(view, asks, (entries) => (modal.close(), doing.apply(entries))));
    } catch (fault) {
      if (mine === turn) error.textContent = fault instanceof Error ? fault.message : String(fault);
    }
  };
  count.addEventListener("change", () => void look());
  void look();
}

/** Why there is no value, or that there is one. */
type State = "value" | "missing" | "refused";

function resultsForm(view: View, asks: readonly Ask[], apply: (entries: Entry[]) => void): HTMLElement {
  const { lang } = view;
  if (asks.length === 0) return h("p", { class: "note" }, lang.t("panel_none"));
  const price = money(view, asks.reduce((sum, ask) => sum + ask.price, 0));
  const parts = asks.map((ask, number) => result(view, ask, number));
  // One after the other, so that each value that is wrong or unusual is asked back at its own field.
  const collect = (found: Entry[]): void => {
    const part = parts[found.length];
    if (part) part.offer((entry) => collect([...found, entry]));
    else apply(found);
  };
  return h(
    "form",
    { id: "panel-form", novalidate: true, on: { submit: (event) => (event.preventDefault(), collect([])) } },
    h("p", { id: "panel-sum", class: "price" }, h("strong", {}, lang.t(asks.length === 1 ? "panel_sum_one" : "panel_sum", { n: asks.length, price }))),
    ...parts.map((part) => part.element),
    h("div", { class: "row end" }, h("button", { class: "main" }, lang.t("panel_done"))),
  );
}

interface Result {
  element: HTMLElement;
  offer(accept: (entry: Entry) => void): void;
}

function result(view: View, ask: Ask, number: number): Result {
  const { lang, sheet } = view;
  const { feature } = ask;
  const title = sheet.title(feature);
  const label = `panel-label-${number}`;
  const field: Field = valueField(sheet, lang, feature, { id: `panel-value-${number}`, labelledBy: label, keys: false });
  const isDevice = sheet.feature(feature).kind === "device";
  const texts: [State, string][] = [
    ["value", lang.t("panel_value")],
    ["missing", lang.t(isDevice ? "silent" : "missing")],
    ["refused", lang.t("refuse")],
  ];
  const state = h("select", { "aria-label": lang.t("panel_state", { title }) }, ...texts.map(([value, text]) => h("option", { value }, text)));
  state.addEventListener("change", () => {
    field.element.hidden = state.value !== "value";
  });
  const price = ask.price > 0 ? money(view, ask.price) : lang.t("free");
  const element = h(
    "fieldset",
    { class: "panel-test", "data-feature": feature },
    h("legend", { id: label }, title, h("small", {}, ` ${price}`)),
    state,
    field.element,
  );
  const offer = (accept: (entry: Entry) => void): void => {
    if (state.value === "refused") accept({ feature, refused: true });
    else if (state.value === "missing") accept({ feature, value: null });
    else field.offer((value) => accept({ feature, value }));
  };
  return { element, offer };
}
