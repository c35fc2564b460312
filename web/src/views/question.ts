// The next question, or the decision: the one card that always says what to do.

import { type Field, valueField } from "../control";
import { h } from "../dom";
import { lastStep } from "../replay";
import type { Ask, Value } from "../types";
import { reasonBox, stopBox } from "./reason";
import { type View, asking, classText, cost, givenNames, money, predictionText } from "./view";

/** Pointers are ignored this long after a new question: the second click of a double click answers nothing. */
const SETTLING = 250;

export interface QuestionCard {
  element: HTMLElement;
  field: Field | null;
  /** The answer buttons, for keys. */
  submit(): void;
  missing(): void;
  refuse(): void;
}

const nothing = (): void => undefined;

export function questionCard(view: View): QuestionCard {
  const ask = asking(view);
  return ask === null ? decisionCard(view) : askCard(view, ask);
}

function askCard(view: View, ask: Ask): QuestionCard {
  const { lang, sheet, actions, keys } = view;
  const feature = sheet.feature(ask.feature);
  const isDevice = feature.kind === "device";
  const field = valueField(sheet, lang, ask.feature, { id: "value", labelledBy: "question-title", keys });
  const tell = (value: Value): void => actions.answer({ feature: ask.feature, value });
  const submit = (): void => field.offer(tell);
  const missing = (): void => tell(null);
  const refuse = (): void => actions.answer({ feature: ask.feature, refused: true });
  const form = h(
    "form",
    { id: "answer", novalidate: true, on: { submit: (event) => (event.preventDefault(), submit()) } },
    field.element,
    h("button", { id: "continue", class: "main" }, lang.t("continue"), key(view, "Enter")),
  );
  const without = h(
    "div",
    { class: "without", role: "group", "aria-label": lang.t("other_answers") },
    verb(view, "missing", lang.t(isDevice ? "silent" : "missing"), "m", missing, lang.t(isDevice ? "silent_hint" : "missing_hint")),
    verb(view, "refuse", lang.t("refuse"), "r", refuse, lang.t("refuse_hint")),
  );
  const element = h(
    "section",
    { id: "card", class: "card question settling", "aria-labelledby": "question-title", "data-model": view.made.model, "data-feature": ask.feature },
    h("p", { class: "eyebrow" }, lang.t("question", { n: view.path.steps.length + 1 }), h("span", { id: "feature" }, sheet.title(ask.feature))),
    h("h2", { id: "question-title", tabindex: -1 }, questionText(view, ask.feature)),
    priceLine(view, ask),
    form,
    without,
    reasonBox(view),
    h(
      "div",
      { class: "verbs" },
      verb(view, "undo", lang.t("undo"), "u", actions.undo),
      verb(view, "what-if", lang.t("what_if"), "w", () => actions.whatIf(ask.feature)),
      verb(view, "decide", lang.t("decide"), "d", actions.decide),
      verb(view, "order-panel", lang.t("panel"), "", actions.orderPanel),
    ),
  );
  settle(element);
  return { element, field, submit, missing, refuse };
}

function decisionCard(view: View): QuestionCard {
  const { lang, sheet, actions } = view;
  const { decision, ask } = lastStep(view.path);
  const place = decision.classes?.indexOf(decision.prediction) ?? -1;
  const name = place < 0 ? lang.number(Number(decision.prediction)) : classText(view, place);
  const share = place < 0 ? null : (decision.probabilities?.[place] ?? 0);
  const n = decision.acquired.filter((one) => sheet.has(one)).length;
  const full = sheet.fullPrice(givenNames(view.made));
  const saved = full - decision.spent;
  const verdict = h("h2", { id: "question-title", class: "verdict", tabindex: -1 }, name);
  if (place >= 0) verdict.style.setProperty("--class", sheet.classColour(place));
  const element = h(
    "section",
    { id: "card", class: "card decision settling", "aria-labelledby": "question-title", "data-model": view.made.model },
    h("p", { class: "eyebrow" }, lang.t("decision")),
    verdict,
    share !== null && h("p", { class: "sure" }, lang.t("sure", { percent: lang.probability(share) })),
    h("p", { id: "price", class: "paid" }, lang.t(n === 1 ? "for_price_one" : "for_price", { n, price: cost(view, decision.spent, decision.resources) })),
    saved > 0.005 && h("p", { id: "saved", class: "saved" }, lang.t("saved", { n: sheet.about.n_features - view.made.given.length, full: money(view, full), saved: money(view, saved) })),
    h("p", { id: "why-decided", class: "note" }, ask === null ? lang.t("decided") : lang.t("decided_early", { title: sheet.title(ask.feature) })),
    stopBox(view),
    h(
      "div",
      { class: "row" },
      ask !== null && verb(view, "resume", lang.t("go_on"), "d", actions.goOn, "", "main"),
      verb(view, "new", lang.t("new_consultation"), "n", actions.startNew, "", ask === null ? "main" : ""),
    ),
    h(
      "div",
      { class: "verbs" },
      verb(view, "undo", lang.t("undo"), "u", actions.undo),
      verb(view, "print", lang.t("print"), "", actions.print),
      verb(view, "export", lang.t("export"), "", actions.save),
    ),
  );
  settle(element);
  return { element, field: null, submit: nothing, missing: nothing, refuse: nothing };
}

function questionText(view: View, name: string): string {
  const { kind, label } = view.sheet.feature(name);
  if (label?.question) return label.question;
  const title = view.sheet.title(name);
  if (kind === "device") return view.lang.t("ask_device", { title });
  return view.lang.t(view.sheet.choices(name) === null ? "ask_value" : "ask_choice", { title });
}

function priceLine(view: View, ask: Ask): HTMLElement {
  const { lang, sheet } = view;
  const group = sheet.group(ask.feature);
  const shared = sheet.sharedPart(ask);
  let note = "";
  if (group && group.cost > 0) {
    const known = givenNames(view.made);
    const free = group.members.some((member) => known.has(member)) ? "shared_known" : "shared_paid";
    note =
      shared > 0
        ? lang.t("with_shared", { own: money(view, ask.price - shared), shared: money(view, shared), group: sheet.groupTitle(group.name), n: group.members.length })
        : lang.t(free, { group: sheet.groupTitle(group.name) });
  }
  const isFree = ask.price === 0 && Object.values(ask.resources ?? {}).every((taken) => taken === 0);
  const price = isFree ? lang.t("free") : lang.t("costs_now", { price: cost(view, ask.price, ask.resources) });
  return h("p", { id: "price", class: "price" }, h("strong", {}, price), note !== "" && h("small", {}, note));
}

/** A button with its key. */
function verb(view: View, id: string, text: string, letter: string, act: () => void, hint = "", kind = ""): HTMLElement {
  const described = hint === "" ? null : `${id}-hint`;
  const shortcut = view.keys && letter !== "" ? letter : null;
  const button = h(
    "button",
    { id, type: "button", class: kind, "aria-keyshortcuts": shortcut, "aria-describedby": described, on: { click: act } },
    text,
    key(view, letter),
  );
  return hint === "" ? button : h("div", { class: "explained" }, button, h("small", { id: described }, hint));
}

function key(view: View, letter: string): HTMLElement | null {
  return view.keys && letter !== "" ? h("kbd", { "aria-hidden": "true" }, letter) : null;
}

function settle(element: HTMLElement): void {
  setTimeout(() => element.classList.remove("settling"), SETTLING);
}

/** What to say to people who listen. */
export function announcement(view: View): string {
  const ask = asking(view);
  const prediction = predictionText(view, lastStep(view.path).decision);
  if (ask === null) return view.lang.t("live_decision", { prediction });
  return view.lang.t("live_question", { title: view.sheet.title(ask.feature), price: cost(view, ask.price, ask.resources), prediction });
}
