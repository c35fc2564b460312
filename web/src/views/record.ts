// The running summary: every answer and known value, each to be changed, compared or removed.

import { type Entry, isRefused } from "../consultation";
import { h } from "../dom";
import { type View, money, valueText } from "./view";

export function recordCard(view: View): HTMLElement {
  const { lang, made, path } = view;
  const used = path.steps.map((step) => step.entry);
  return h(
    "section",
    { id: "record", class: "card", "aria-labelledby": "record-title" },
    h("h2", { id: "record-title", class: "card-title" }, lang.t("record")),
    used.length === 0 ? h("p", { class: "note" }, lang.t("record_empty")) : h("ol", { id: "answers", class: "entries" }, ...used.map((one, place) => entry(view, one, place))),
    made.given.length > 0 && h("h3", {}, lang.t("known"), h("small", {}, lang.t("known_hint"))),
    made.given.length > 0 && h("ul", { id: "given", class: "entries" }, ...made.given.map((one) => entry(view, one, -1))),
    path.unused.length > 0 && h("h3", {}, lang.t("not_used"), h("small", {}, lang.t("not_used_hint"))),
    path.unused.length > 0 && h("ul", { id: "unused", class: "entries" }, ...path.unused.map((one) => entry(view, one, -1))),
    h("button", { id: "add-known", type: "button", class: "quiet", on: { click: () => view.actions.addKnown() } }, lang.t("add_known")),
  );
}

function entry(view: View, one: Entry, place: number): HTMLElement {
  const { lang, sheet, actions } = view;
  const title = sheet.title(one.feature);
  const text = isRefused(one) ? lang.t("not_available") : valueText(view, one.feature, one.value);
  const step = place < 0 ? undefined : view.path.steps[place];
  const before = place > 0 ? view.path.steps[place - 1]?.after : view.path.first;
  // What it added to the total, which for a silent device is nothing.
  const paid = step && before ? step.after.spent - before.spent : null;
  return h(
    "li",
    { "data-feature": one.feature },
    h("span", { class: "what" }, title),
    h("span", { class: "said" }, text),
    paid !== null && h("span", { class: "number cost" }, Math.abs(paid) < 1e-9 * (step?.after.spent ?? 0) || paid === 0 ? lang.t("free") : money(view, paid)),
    h(
      "span",
      { class: "tools" },
      h("button", { type: "button", class: "link", "aria-label": lang.t("edit_of", { title }), on: { click: () => actions.edit(one.feature) } }, lang.t("edit")),
      h("button", { type: "button", class: "link", "aria-label": lang.t("what_if_of", { title }), on: { click: () => actions.whatIf(one.feature) } }, lang.t("what_if")),
      h("button", { type: "button", class: "link", "aria-label": lang.t("remove_of", { title }), on: { click: () => actions.remove(one.feature) } }, lang.t("remove")),
    ),
  );
}
