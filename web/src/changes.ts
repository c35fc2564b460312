// What differs between two paths, in sentences.

import { lastStep, type Path } from "./replay";
import { type View, cost, predictionText } from "./views/view";

export interface Outcome {
  prediction: string;
  next: string;
  spent: string;
  unused: string[];
}

/** What a path leads to, as texts. */
export function outcomeOf(view: View, path: Path): Outcome {
  const step = lastStep(path);
  return {
    prediction: predictionText(view, step.decision),
    next: step.ask === null ? view.lang.t("decides") : view.sheet.title(step.ask.feature),
    spent: cost(view, step.spent, step.decision.resources),
    unused: path.unused.map((entry) => view.sheet.title(entry.feature)),
  };
}

export function changes(view: View, before: Path, after: Path): string[] {
  const { lang } = view;
  const [was, is] = [outcomeOf(view, before), outcomeOf(view, after)];
  const nextOf = (path: Path, text: string): string => (lastStep(path).ask === null ? lang.t("none") : text);
  const said: string[] = [];
  if (was.prediction !== is.prediction) said.push(lang.t("change_prediction", { before: was.prediction, after: is.prediction }));
  if (was.next !== is.next) said.push(lang.t("change_next", { before: nextOf(before, was.next), after: nextOf(after, is.next) }));
  if (was.spent !== is.spent) said.push(lang.t("change_spent", { before: was.spent, after: is.spent }));
  const dropped = is.unused.filter((title) => !was.unused.includes(title));
  const back = was.unused.filter((title) => !is.unused.includes(title));
  if (dropped.length > 0) said.push(lang.t("change_unused", { titles: dropped.join(", ") }));
  if (back.length > 0) said.push(lang.t("change_used", { titles: back.join(", ") }));
  return said.length > 0 ? said : [lang.t("change_none")];
}
