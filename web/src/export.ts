// A consultation as a file: all that was said, asked and paid.

import { isRefused } from "./consultation";
import { lastStep } from "./replay";
import { type View, givenNames } from "./views/view";

export function exported(view: View, now: Date): Record<string, unknown> {
  const { made, path, sheet } = view;
  const { decision, ask, left } = lastStep(path);
  return {
    format: "farthing-consultation",
    exported: now.toISOString(),
    model: made.model,
    version: made.version,
    title: sheet.about.title,
    unit: sheet.about.unit,
    budget: made.budget,
    given: made.given.map((one) => ({ ...one, title: sheet.title(one.feature) })),
    steps: path.steps.map(({ ask: question, entry, after, inPanel }) => ({
      feature: question.feature,
      title: sheet.title(question.feature),
      price: question.price,
      group: question.group,
      ...(isRefused(entry) ? { refused: true } : { value: entry.value }),
      ...(inPanel ? { panel: 1 + path.rounds.findIndex((round) => round.includes(entry.feature)) } : {}),
      spent: after.spent,
      prediction: after.decision.prediction,
      probabilities: after.decision.probabilities,
    })),
    unused: path.unused,
    receipt: sheet.receipt(decision, givenNames(made), path.steps.map((step) => step.ask.feature)),
    decision: { ...decision, left, finished: ask === null },
  };
}

export function download(name: string, plain: unknown): void {
  const url = URL.createObjectURL(new Blob([JSON.stringify(plain, null, 2)], { type: "application/json" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
