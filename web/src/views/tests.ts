// All tests with what they cost now. Tables may have many thousand columns, so a few rows are drawn at a time.

import { isRefused } from "../consultation";
import { fill, h } from "../dom";
import type { Key } from "../locales/en";
import { lastStep } from "../replay";
import { type View, asking, givenNames, money, ownedNames } from "./view";

const MOST_ROWS = 40;

export function testsCard(view: View, wasOpen: boolean): HTMLDetailsElement {
  const { lang, sheet } = view;
  const body = h("tbody", { id: "tests" });
  const count = h("p", { id: "tests-count", class: "note", role: "status" });
  const search = h("input", { id: "tests-search", type: "search", autocomplete: "off", "aria-describedby": "tests-count" });
  const draw = (): void => {
    const states = stateOf(view);
    const owned = ownedNames(view);
    const touched = new Set([...states.keys()]);
    const rest = sheet.search(search.value, MOST_ROWS, (name) => !touched.has(name));
    const first = sheet.search(search.value, MOST_ROWS, (name) => touched.has(name));
    const shown = [...first.found, ...rest.found].slice(0, MOST_ROWS);
    fill(body, ...shown.map((name) => row(view, name, states.get(name) ?? "state_open", owned)));
    const n = first.count + rest.count;
    count.textContent = n === 0 ? lang.t("none_found") : n > shown.length ? lang.t("found_more", { n: shown.length, count: lang.number(n) }) : lang.t("found", { n });
  };
  search.addEventListener("input", draw);
  const made = h(
    "details",
    { id: "tests-card", class: "card", open: wasOpen },
    h("summary", {}, lang.t("tests"), h("small", {}, lang.t("tests_all", { n: lang.number(sheet.about.n_features), price: money(view, sheet.about.total) }))),
    h("label", { for: "tests-search" }, lang.t("search")),
    search,
    count,
    h(
      "table",
      {},
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, lang.t("col_test")), h("th", { scope: "col" }, lang.t("col_state")), h("th", { scope: "col", class: "number" }, lang.t("col_price")))),
      body,
    ),
  );
  // Nothing is drawn until somebody looks.
  if (wasOpen) draw();
  made.addEventListener("toggle", () => made.open && draw());
  return made;
}

function stateOf(view: View): Map<string, Key> {
  const states = new Map<string, Key>();
  const ask = asking(view);
  if (ask !== null) states.set(ask.feature, "state_asked");
  for (const { entry } of view.path.steps) states.set(entry.feature, isRefused(entry) ? "state_refused" : "state_bought");
  for (const name of givenNames(view.made)) states.set(name, "state_known");
  for (const entry of view.path.unused) states.set(entry.feature, "state_unused");
  return states;
}

function row(view: View, name: string, state: Key, owned: ReadonlySet<string>): HTMLElement {
  const { lang, sheet } = view;
  const { price, shared } = sheet.priceNow(name, owned);
  const asked = lastStep(view.path).ask;
  const amount = asked?.feature === name ? asked.price : price;
  const title = sheet.title(name);
  const note = shared > 0 ? ` (${lang.t("shared_by", { name: sheet.groupTitle(sheet.group(name)?.name ?? "") })}: ${money(view, shared)})` : "";
  return h(
    "tr",
    { "data-feature": name, "data-state": state.slice("state_".length) },
    h("th", { scope: "row" }, title, title === name ? null : h("small", {}, ` ${name}`)),
    h("td", {}, h("span", { class: `tag ${state}` }, lang.t(state))),
    h("td", { class: "number" }, owned.has(name) ? "–" : money(view, amount), note !== "" && !owned.has(name) && h("small", {}, note)),
  );
}
