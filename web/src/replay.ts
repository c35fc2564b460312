// The path of a consultation: what the model asks, in order, when it gets the user's answers.

import { type Consultation, type Entry, requestOf } from "./consultation";
import type { Ask, Step, StepRequest } from "./types";

export interface PathStep {
  ask: Ask;
  entry: Entry;
  /** The service's answer once the entry is told. */
  after: Step;
}

export interface Path {
  /** Before any answer. */
  first: Step;
  steps: PathStep[];
  /** Answers that the walk does not ask for: neither used nor paid for. */
  unused: Entry[];
}

export type AskService = (request: StepRequest) => Promise<Step>;

/** The model file was replaced while the consultation went on. */
export class ModelReplaced extends Error {}

export const lastStep = (path: Path): Step => path.steps.at(-1)?.after ?? path.first;

/**
 * Walk through the answers of a consultation, asking the service step by step.
 *
 * Steps that an earlier path of the same model, budget and known values shares are not asked again, so that one
 * more answer is one request. An answer to a question that was not asked for at first is used when it is.
 */
export async function replay(ask: AskService, made: Consultation, before: Earlier | null = null): Promise<Path> {
  const earlier = before !== null && sameStart(before.made, made) ? before.path : null;
  const answers = new Map(made.answers.map((entry) => [entry.feature, entry]));
  const told: Entry[] = [];
  const step = async (): Promise<Step> => {
    const answer = await ask(requestOf(made, told));
    if (answer.version !== made.version) throw new ModelReplaced();
    return answer;
  };
  const first = earlier?.first ?? (await step());
  const steps: PathStep[] = [];
  let now = first;
  let shared = earlier !== null;
  while (now.ask !== null) {
    const entry = answers.get(now.ask.feature);
    if (entry === undefined) break;
    told.push(entry);
    const known = shared ? earlier?.steps[steps.length] : undefined;
    shared = known !== undefined && sameEntry(known.entry, entry);
    const after: Step = shared && known ? known.after : await step();
    steps.push({ ask: now.ask, entry, after });
    now = after;
  }
  const used = new Set(told.map((entry) => entry.feature));
  return { first, steps, unused: made.answers.filter((entry) => !used.has(entry.feature)) };
}

/** A consultation and the path that it led to. */
export interface Earlier {
  made: Consultation;
  path: Path;
}

function sameStart(a: Consultation, b: Consultation): boolean {
  const start = ({ model, version, given, budget }: Consultation) => JSON.stringify([model, version, given, budget]);
  return start(a) === start(b);
}

const sameEntry = (a: Entry, b: Entry): boolean => JSON.stringify(a) === JSON.stringify(b);
