// One consultation as an immutable value: all that the user has said. What follows from it is a path (replay.ts).

import type { StepRequest, Value } from "./types";

export type Entry = { feature: string; value: Value } | { feature: string; refused: true };

export interface Consultation {
  model: string;
  /** Of the model file that the answers were given to. */
  version: string;
  given: readonly { feature: string; value: Value }[];
  answers: readonly Entry[];
  /** The features whose answers were ordered together, panel by panel; the others were asked one by one. */
  panels: readonly (readonly string[])[];
  /** null means the model's own, or none. */
  budget: number | null;
  /** "Decide now". */
  stopped: boolean;
}

export function newConsultation(model: string, version: string): Consultation {
  return { model, version, given: [], answers: [], panels: [], budget: null, stopped: false };
}

export const isRefused = (entry: Entry): entry is { feature: string; refused: true } => "refused" in entry;

/** Whether something would be lost. */
export function hasContent(made: Consultation): boolean {
  return made.given.length > 0 || made.answers.length > 0;
}

/** Answer a question, or change the answer to it. */
export function withAnswer(made: Consultation, entry: Entry): Consultation {
  const at = made.answers.findIndex((one) => one.feature === entry.feature);
  const answers = at < 0 ? [...made.answers, entry] : made.answers.map((one, place) => (place === at ? entry : one));
  return { ...made, answers };
}

/** Answer questions that were ordered together. */
export function withPanel(made: Consultation, entries: readonly Entry[]): Consultation {
  const answered = entries.reduce(withAnswer, made);
  const panel = entries.map((one) => one.feature);
  return { ...answered, panels: [...answered.panels, panel] };
}

export function withoutAnswer(made: Consultation, feature: string): Consultation {
  const answers = made.answers.filter((one) => one.feature !== feature);
  return { ...made, answers, panels: keptPanels(made.panels, (name) => name !== feature) };
}

function keptPanels(panels: Consultation["panels"], keeps: (feature: string) => boolean): string[][] {
  return panels.map((panel) => panel.filter(keeps)).filter((panel) => panel.length > 0);
}

/** Enter what is known from the start; an answer to the same feature is replaced by it. */
export function withGiven(made: Consultation, feature: string, value: Value): Consultation {
  const entry = { feature, value };
  const known = made.given.some((one) => one.feature === feature);
  const given = known ? made.given.map((one) => (one.feature === feature ? entry : one)) : [...made.given, entry];
  return { ...withoutAnswer(made, feature), given };
}

export function withoutGiven(made: Consultation, feature: string): Consultation {
  return { ...made, given: made.given.filter((one) => one.feature !== feature) };
}

/** The request for the step after some answers; `rounds` are those of them that came in panels. */
export function requestOf(made: Consultation, path: readonly Entry[], rounds: readonly (readonly string[])[] = []): StepRequest {
  const known = path.filter((one) => !isRefused(one)) as { feature: string; value: Value }[];
  // fromEntries, since a column may be called __proto__.
  return {
    given: Object.fromEntries(made.given.map((one) => [one.feature, one.value])),
    known: Object.fromEntries(known.map((one) => [one.feature, one.value])),
    refused: path.filter(isRefused).map((one) => one.feature),
    budget: made.budget,
    ...(rounds.length > 0 ? { rounds } : {}),
  };
}

/** Read a stored consultation, which anybody may have written; null if it is not one. */
export function parseConsultation(plain: unknown): Consultation | null {
  if (!isObject(plain)) return null;
  const { model, version, given, answers, panels = [], budget, stopped } = plain;
  if (typeof model !== "string" || typeof version !== "string" || typeof stopped !== "boolean") return null;
  if (budget !== null && !(typeof budget === "number" && Number.isFinite(budget) && budget >= 0)) return null;
  if (!Array.isArray(given) || !Array.isArray(answers)) return null;
  if (!given.every(isValued) || !answers.every((one) => isValued(one) || isRefusal(one))) return null;
  const names = [...given, ...answers].map((one: { feature: string }) => one.feature);
  if (new Set(names).size < names.length) return null;
  if (!Array.isArray(panels) || !panels.every((panel) => Array.isArray(panel) && panel.length > 0)) return null;
  const answered = new Set(answers.map((one: { feature: string }) => one.feature));
  const together = panels.flat();
  if (new Set(together).size < together.length || !together.every((name) => answered.has(name))) return null;
  return { model, version, given, answers, panels, budget, stopped };
}

function isObject(plain: unknown): plain is Record<string, unknown> {
  return typeof plain === "object" && plain !== null && !Array.isArray(plain);
}

function isValued(plain: unknown): boolean {
  if (!isObject(plain) || typeof plain["feature"] !== "string" || !("value" in plain)) return false;
  const value = plain["value"];
  if (Array.isArray(value)) return value.every((one) => typeof one === "number");
  return value === null || ["number", "string", "boolean"].includes(typeof value);
}

function isRefusal(plain: unknown): boolean {
  return isObject(plain) && typeof plain["feature"] === "string" && plain["refused"] === true;
}

/** What of a consultation another file of the model can take over, and the features that it cannot. */
export function carriedOver(
  made: Consultation,
  version: string,
  fits: (feature: string, value: Value) => boolean,
): { made: Consultation; dropped: string[] } {
  const keeps = (entry: Entry): boolean => fits(entry.feature, isRefused(entry) ? null : entry.value);
  const given = made.given.filter(keeps);
  const answers = made.answers.filter(keeps);
  const dropped = [...made.given, ...made.answers].filter((entry) => !keeps(entry)).map((entry) => entry.feature);
  const taken = new Set(answers.map((one) => one.feature));
  const panels = keptPanels(made.panels, (name) => taken.has(name));
  return { made: { ...made, version, given, answers, panels }, dropped };
}
