// Why a question is asked, or why the model has ended, in the words of the sheet of labels.

import { h } from "../dom";
import type { Key } from "../locales/en";
import { lastStep } from "../replay";
import type { Reason, ReasonOutcome } from "../types";
import { type View, classText } from "./view";

const MOST_OUTCOMES = 4;

/** What the answers would lead to; or, from a model that does not say, that there is no more to it. */
export function reasonBox(view: View): HTMLElement | null {
  const { lang } = view;
  const { ask, reason } = lastStep(view.path);
  if (!ask) return null;
  const outcomes = (reason?.outcomes ?? []).slice(0, MOST_OUTCOMES);
  const risk = reason ? riskText(view, reason) : null;
  return h(
    "details",
    // On a small screen one line, so that what follows is in sight.
    { id: "reason", class: "reason", open: window.matchMedia("(min-width: 40rem)").matches },
    h("summary", { id: "reason-title" }, lang.t("reason")),
    outcomes.length > 0 && h("ul", {}, ...outcomes.map((one) => h("li", {}, outcomeText(view, ask.feature, one)))),
    risk !== null && h("small", {}, risk),
    outcomes.length === 0 && risk === null && h("small", {}, lang.t("reason_none")),
  );
}

const MEASURES: Readonly<Record<string, Key>> = { error: "measure_error", "Brier score": "measure_brier", "squared error": "measure_squared" };

/** How much the answer lowers what is expected to go wrong; null if the model does not know. */
export function riskText(view: View, { measure: name, risk, fall }: Reason): string | null {
  const { lang } = view;
  if (risk === null || fall === null) return null;
  const digits = (value: number): string => lang.number(Number(value.toPrecision(2)));
  const known = MEASURES[name];
  const measure = known === undefined ? name : lang.t(known);
  const before = digits(risk);
  const after = digits(Math.max(0, risk - fall));
  // A fall of noise, or below zero, is no reason; that there is none is worth knowing.
  return fall > 0 && after !== before ? lang.t("reason_risk", { measure, before, after }) : lang.t("reason_little", { measure, before });
}

/** "asymptomatic (48%): heart disease 73%, then Major vessels". */
export function outcomeText(view: View, feature: string, outcome: ReasonOutcome): string {
  const { lang, sheet } = view;
  const place = sheet.about.classes?.indexOf(outcome.prediction) ?? -1;
  const share = outcome.probabilities?.[place];
  const prediction = place < 0 ? lang.number(Number(outcome.prediction)) : classText(view, place) + (share === undefined ? "" : ` ${lang.probability(share)}`);
  const values = { answer: answerText(view, feature, outcome.answer), share: lang.percent(outcome.probability), prediction };
  return outcome.asks === null ? lang.t("reason_ends", values) : lang.t("reason_then", { ...values, next: sheet.title(outcome.asks) });
}

/** The answers that an outcome stands for: codes by their texts, and bounds as one writes them. */
export function answerText(view: View, feature: string, answer: string): string {
  const { lang, sheet } = view;
  if (answer === "missing") return lang.t("no_result");
  const bounds = boundsOf(answer);
  const choices = sheet.has(feature) ? sheet.choices(feature) : null;
  if (choices !== null) {
    const texts = new Map(choices.map((choice) => [String(choice.value), choice.text]));
    if (bounds) {
      const meant = choices.filter((choice) => typeof choice.value === "number" && bounds.every((one) => isWithin(choice.value as number, one)));
      if (meant.length > 0) return meant.map((choice) => choice.text).join(", ");
    }
    return answer.split(", ").map((one) => texts.get(one) ?? one).join(", ");
  }
  if (!bounds) return answer;
  const signs: Record<string, string> = { "<=": "\u2264", ">=": "\u2265", "<": "<", ">": ">" };
  const unit = sheet.has(feature) ? sheet.feature(feature).label?.unit : "";
  const texts = bounds.map((one) => `${signs[one.sign]}\u00a0${lang.number(Number(one.limit.toPrecision(4)))}`);
  return `${texts.join(", ")}${unit ? `\u00a0${unit}` : ""}`;
}

interface Bound {
  sign: string;
  limit: number;
}

/** The bounds of "<= 3.5", or of "> 3.5, <= 5"; null if an answer has others. */
function boundsOf(answer: string): Bound[] | null {
  const found = answer.split(", ").map((one) => /^(<=|>=|<|>) (-?[0-9.]+(?:e[+-]?[0-9]+)?)$/.exec(one));
  return found.every((one) => one !== null) ? found.map((one) => ({ sign: one[1] as string, limit: Number(one[2]) })) : null;
}

function isWithin(value: number, { sign, limit }: Bound): boolean {
  const within: Record<string, boolean> = { "<=": value <= limit, ">=": value >= limit, "<": value < limit, ">": value > limit };
  return within[sign] ?? false;
}

/** What kept the model from asking more, beside that it needs no more; null if nothing did. */
export function stopBox(view: View): HTMLElement | null {
  const { lang, sheet } = view;
  const { ask, stop_reason: stop } = lastStep(view.path);
  if (ask !== null || !stop) return null;
  const titles = (names: readonly string[]): string => {
    const shown = names.slice(0, MOST_OUTCOMES).map((name) => sheet.title(name)).join(", ");
    return names.length > MOST_OUTCOMES ? `${shown} ${lang.t("and_more", { n: names.length - MOST_OUTCOMES })}` : shown;
  };
  const said = [
    stop.too_expensive.length > 0 && lang.t("stop_budget", { titles: titles(stop.too_expensive) }),
    stop.refused.length > 0 && lang.t("stop_refused", { titles: titles(stop.refused) }),
  ].filter((one) => one !== false);
  return said.length === 0 ? null : h("p", { id: "reason", class: "reason" }, said.join(" "));
}
