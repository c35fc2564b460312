// What every part of the page is drawn from, and what its buttons do.

import type { Consultation, Entry } from "../consultation";
import type { Language } from "../i18n";
import { type Path, lastStep } from "../replay";
import type { Sheet } from "../sheet";
import type { Decision, Step, Value } from "../types";

export interface Actions {
  answer(entry: Entry): void;
  edit(feature: string): void;
  remove(feature: string): void;
  addKnown(): void;
  whatIf(feature: string): void;
  orderPanel(): void;
  decide(): void;
  goOn(): void;
  undo(): void;
  setBudget(budget: number | null): void;
  startNew(): void;
  print(): void;
  save(): void;
}

export interface View {
  sheet: Sheet;
  made: Consultation;
  path: Path;
  lang: Language;
  keys: boolean;
  actions: Actions;
}

/** What is asked now, or null if the model or the user has decided. */
export function asking(view: View): Step["ask"] {
  return view.made.stopped ? null : lastStep(view.path).ask;
}

export const money = (view: View, amount: number): string => view.lang.money(amount, view.sheet.about.unit, view.sheet.decimals);

/** An amount with what is taken of further resources: "7.27 CAD + 15 minutes". */
export function cost(view: View, amount: number, resources: Record<string, number> | null = {}): string {
  const others = Object.entries(resources ?? {}).filter(([, taken]) => taken !== 0);
  return [money(view, amount), ...others.map(([name, taken]) => `${view.lang.number(taken)}\u00a0${name}`)].join(" + ");
}

export const givenNames = (made: Consultation): Set<string> => new Set(made.given.map((one) => one.feature));

/** What the row owns: known, or paid for. */
export function ownedNames(view: View): Set<string> {
  return new Set([...givenNames(view.made), ...lastStep(view.path).decision.acquired]);
}

export const valueText = (view: View, feature: string, value: Value): string =>
  view.sheet.valueText(feature, value, (one) => view.lang.value(one), view.lang.t("no_result"));

/** The name of a class; one that is only a code says so, since "0 57%" is no sentence. */
export function classText(view: View, place: number): string {
  const name = view.sheet.className(place);
  const label = view.sheet.about.classes?.[place];
  const isNamed = name !== String(label) || (typeof label === "string" && !Number.isFinite(Number(label)));
  return isNamed ? name : view.lang.t("class_code", { name });
}

/** The leading class with its probability, or the predicted number. */
export function predictionText(view: View, decision: Decision): string {
  if (decision.classes === null || decision.probabilities === null) return view.lang.number(Number(decision.prediction));
  const place = decision.classes.indexOf(decision.prediction);
  return `${classText(view, place)} ${view.lang.probability(decision.probabilities[place] ?? 0)}`;
}
