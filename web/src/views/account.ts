// What was paid for, line by line, and the budget.

import { h } from "../dom";
import { parseNumber, roundedParts, typedText } from "../numbers";
import { lastStep } from "../replay";
import type { ReceiptLine } from "../sheet";
import { type View, cost, givenNames, money } from "./view";

export function accountCard(view: View): HTMLElement {
  const { lang } = view;
  const step = lastStep(view.path);
  return h(
    "section",
    { id: "account", class: "card", "aria-labelledby": "account-title" },
    h("h2", { id: "account-title", class: "card-title" }, lang.t("account")),
    h(
      "dl",
      { class: "sums" },
      h("div", {}, h("dt", {}, lang.t("spent")), h("dd", { id: "spent" }, cost(view, step.spent, step.decision.resources))),
      h("div", {}, h("dt", {}, lang.t("left")), h("dd", { id: "left" }, step.left === null ? lang.t("no_limit") : money(view, step.left))),
    ),
    receipt(view),
    budgetForm(view),
  );
}

function receipt(view: View): HTMLElement {
  const { lang, sheet, path } = view;
  const { decision } = lastStep(path);
  const lines = sheet.receipt(decision, givenNames(view.made), path.steps.map((step) => step.ask.feature));
  const names: Record<ReceiptLine["kind"], (line: ReceiptLine) => string> = {
    feature: (line) => sheet.title(line.name),
    shared: (line) => lang.t("shared_by", { name: sheet.groupTitle(line.name) }),
    call: (line) => lang.t("call", { name: line.name }),
    other: () => lang.t("other"),
  };
  const row = (name: string, cost: number): HTMLElement => h("tr", {}, h("th", { scope: "row" }, name), h("td", { class: "number" }, money(view, cost)));
  const costs = roundedParts(lines.map((line) => line.cost), sheet.decimals);
  if (lines.length === 0) return h("p", { class: "note" }, lang.t("receipt_empty"));
  return h(
    "table",
    { id: "receipt" },
    h("caption", {}, lang.t("receipt")),
    h("tbody", {}, ...lines.map((line, place) => row(names[line.kind](line), costs[place] ?? line.cost))),
    h("tfoot", {}, row(lang.t("total"), decision.spent)),
  );
}

function budgetForm(view: View): HTMLElement {
  const { lang, sheet, made, actions } = view;
  const { budget, mean_budget: mean, frontier, unit } = sheet.about;
  const input = h("input", {
    id: "budget",
    type: "text",
    inputmode: "decimal",
    autocomplete: "off",
    value: made.budget === null ? "" : typedText(made.budget, lang.decimal),
    placeholder: budget === null ? lang.t("no_limit") : lang.value(budget),
    "aria-describedby": "budget-hint budget-error",
  });
  const error = h("p", { id: "budget-error", class: "field-error", role: "alert" });
  const submit = (event: Event): void => {
    event.preventDefault();
    const parsed = parseNumber(input.value, lang.decimal);
    const isEmpty = "fault" in parsed && parsed.fault === "empty";
    const isFine = isEmpty || ("value" in parsed && parsed.value >= 0);
    error.textContent = isFine ? "" : lang.t("fault_budget");
    input.setAttribute("aria-invalid", String(!isFine));
    if (isFine) actions.setBudget("value" in parsed ? parsed.value : null);
    else input.focus();
  };
  const spend = frontier?.spend;
  return h(
    "form",
    { id: "budget-form", novalidate: true, on: { submit } },
    mean !== null && h("p", { id: "mean-budget", class: "note" }, lang.t("budget_mean", { price: money(view, mean) }), typeof spend === "number" && ` ${lang.t("budget_mean_spend", { price: money(view, spend) })}`),
    h("label", { for: "budget" }, lang.t("budget")),
    h(
      "div",
      { class: "row" },
      h("div", { class: "typed" }, input, unit !== "" && h("span", { class: "unit", "aria-hidden": "true" }, unit)),
      h("button", {}, lang.t("apply")),
    ),
    h("p", { id: "budget-hint", class: "hint" }, budget === null ? lang.t("budget_hint") : lang.t("budget_own", { price: money(view, budget) })),
    error,
  );
}
