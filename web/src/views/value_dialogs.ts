// Dialogues that take a value: change an answer, add what is known, and compare answers without changing anything.

import { type Outcome, outcomeOf } from "../changes";
import { type Consultation, type Entry, isRefused, withAnswer, withGiven } from "../consultation";
import { type Field, valueField } from "../control";
import { fill, h } from "../dom";
import type { Path } from "../replay";
import type { Value } from "../types";
import { openModal } from "./dialog";
import { type View, givenNames, valueText } from "./view";

const MOST_FOUND = 20;
const MOST_COLUMNS = 5;

const isGiven = (view: View, feature: string): boolean => givenNames(view.made).has(feature);

function currentEntry(view: View, feature: string): Entry | undefined {
  return [...view.made.given, ...view.made.answers].find((one) => one.feature === feature);
}

/** The consultation with another value, known or answered as it was before. */
export function changed(view: View, feature: string, entry: Entry): Consultation {
  if (isGiven(view, feature) && !isRefused(entry)) return withGiven(view.made, feature, entry.value);
  return withAnswer(view.made, entry);
}

export function editDialog(view: View, feature: string, apply: (entry: Entry) => void): void {
  const { lang, sheet } = view;
  const entry = currentEntry(view, feature);
  const initial = entry === undefined || isRefused(entry) ? undefined : entry.value;
  const done = (next: Entry): void => {
    modal.close();
    apply(next);
  };
  let field: Field | null = null;
  const form = h("form", { novalidate: true, on: { submit: (event) => (event.preventDefault(), field?.offer((value) => done({ feature, value }))) } });
  const modal = openModal(lang.t("edit_title"), [h("p", { id: "edit-label", class: "strong" }, sheet.title(feature)), h("p", { class: "note" }, lang.t("edit_hint")), form]);
  field = valueField(sheet, lang, feature, { id: "edit-value", labelledBy: "edit-label", initial, keys: false });
  const isDevice = sheet.feature(feature).kind === "device";
  fill(
    form,
    field.element,
    h(
      "div",
      { class: "row end" },
      h("button", { class: "main" }, lang.t("save")),
      h("button", { type: "button", on: { click: () => done({ feature, value: null }) } }, lang.t(isDevice ? "silent" : "missing")),
      !isGiven(view, feature) && h("button", { type: "button", on: { click: () => done({ feature, refused: true }) } }, lang.t("refuse")),
      h("button", { type: "button", on: { click: () => modal.close() } }, lang.t("cancel")),
    ),
  );
  field.focus();
}

export function knownDialog(view: View, apply: (feature: string, value: Value) => void): void {
  const { lang, sheet } = view;
  const taken = givenNames(view.made);
  const results = h("ul", { class: "results" });
  const count = h("p", { class: "note", role: "status" });
  const search = h("input", { id: "known-search", type: "search", autocomplete: "off", autofocus: true });
  const picker = h("div", {}, h("label", { for: "known-search" }, lang.t("search")), search, count, results);
  const form = h("form", { novalidate: true });
  const modal = openModal(lang.t("known_title"), [
    h("p", { class: "note" }, lang.t("known_hint")),
    picker,
    form,
    h("div", { class: "row end" }, h("button", { type: "button", on: { click: () => modal.close() } }, lang.t("cancel"))),
  ]);
  const pick = (feature: string): void => {
    picker.hidden = true;
    const field = valueField(sheet, lang, feature, { id: "known-value", labelledBy: "known-label", keys: false });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      field.offer((value) => {
        modal.close();
        apply(feature, value);
      });
    });
    fill(form, h("p", { id: "known-label", class: "strong" }, sheet.title(feature)), field.element, h("button", { class: "main" }, lang.t("save")));
    field.focus();
  };
  const draw = (): void => {
    const { found, count: n } = sheet.search(search.value, MOST_FOUND, (name) => !taken.has(name));
    fill(results, ...found.map((name) => h("li", {}, h("button", { type: "button", on: { click: () => pick(name) } }, sheet.title(name), sheet.title(name) === name ? null : h("small", {}, ` ${name}`)))));
    count.textContent = n === 0 ? lang.t("none_found") : n > found.length ? lang.t("found_more", { n: found.length, count: lang.number(n) }) : lang.t("found", { n });
  };
  search.addEventListener("input", draw);
  draw();
}

interface Column {
  head: string;
  outcome: Outcome;
}

/** Compare what other answers would lead to. `look` asks the service, and nothing is adopted. */
export function whatIfDialog(view: View, feature: string, look: (made: Consultation) => Promise<Path>): void {
  const { lang, sheet } = view;
  const choices = sheet.choices(feature);
  const entry = currentEntry(view, feature);
  const now: Column = { head: entry && !isRefused(entry) ? `${lang.t("now")}: ${valueText(view, feature, entry.value)}` : lang.t("now"), outcome: outcomeOf(view, view.path) };
  const columns: Column[] = [];
  const table = h("div", { id: "what-if-table", class: "wide", tabindex: 0, role: "region", "aria-label": lang.t("what_if_title") });
  const error = h("p", { class: "field-error", role: "alert" });
  const compare = async (values: Value[]): Promise<void> => {
    try {
      for (const value of values) {
        const path = await look(changed(view, feature, { feature, value }));
        columns.push({ head: valueText(view, feature, value), outcome: outcomeOf(view, path) });
      }
      columns.splice(0, columns.length - MOST_COLUMNS);
      fill(table, comparison(view, [now, ...columns]));
    } catch (fault) {
      error.textContent = fault instanceof Error ? fault.message : String(fault);
    }
  };
  const form = h("form", { novalidate: true });
  const modal = openModal(lang.t("what_if_title"), [
    h("p", { id: "what-if-label", class: "strong" }, sheet.title(feature)),
    h("p", { class: "note" }, lang.t("what_if_hint")),
    form,
    table,
    error,
    h("div", { class: "row end" }, h("button", { type: "button", class: "main", on: { click: () => modal.close() } }, lang.t("close"))),
  ], undefined, "broad");
  if (choices !== null && choices.length <= MOST_COLUMNS) {
    void compare(choices.map((choice) => choice.value));
    return;
  }
  fill(table, comparison(view, [now]));
  const field = valueField(sheet, lang, feature, { id: "what-if-value", labelledBy: "what-if-label", keys: false });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    field.offer((value) => void compare([value]));
  });
  fill(form, field.element, h("button", {}, lang.t("compare")));
  field.focus();
}

function comparison(view: View, columns: Column[]): HTMLElement {
  const { lang } = view;
  const row = (head: string, text: (outcome: Outcome) => string): HTMLElement =>
    h("tr", {}, h("th", { scope: "row" }, head), ...columns.map(({ outcome }) => h("td", {}, text(outcome))));
  return h(
    "table",
    { class: "compare" },
    h("thead", {}, h("tr", {}, h("td", {}), ...columns.map(({ head }) => h("th", { scope: "col" }, head)))),
    h(
      "tbody",
      {},
      row(lang.t("row_prediction"), (one) => one.prediction),
      row(lang.t("row_next"), (one) => one.next),
      row(lang.t("row_spent"), (one) => one.spent),
      row(lang.t("row_unused"), (one) => one.unused.join(", ") || lang.t("none")),
    ),
  );
}
