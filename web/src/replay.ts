// The path of a consultation: what the model asks, in order, when it gets the user's answers.

import { type Consultation, type Entry, requestOf } from "./consultation";
import type { Ask, Step, StepRequest } from "./types";

export interface PathStep {
  ask: Ask;
  entry: Entry;
  /** The service's answer once the entry is told. */
  after: Step;
  /** Whether it was ordered together with others. */
  inPanel: boolean;
}

export interface Path {
  /** Before any answer. */
  first: Step;
  steps: PathStep[];
  /** Answers that the walk does not ask for: neither used nor paid for. */
  unused: Entry[];
  /** The panels among the steps. */
  rounds: readonly (readonly string[])[];
}

export type AskService = (request: StepRequest) => Promise<Step>;

/** The model file was replaced while the consultation went on. */
export class ModelReplaced extends Error {}

export const lastStep = (path: Path): Step => path.steps.at(-1)?.after ?? path.first;

/** The questions that the model would order together after a path. */
export async function panelAfter(ask: AskService, made: Consultation, path: Path, count: number): Promise<Ask[]> {
  const told = path.steps.map((step) => step.entry);
  // Without rounds the service would take all answers for one panel.
  const step = await ask({ ...requestOf(made, told, path.rounds), rounds: path.rounds, panel: count });
  if (step.version !== made.version) throw new ModelReplaced();
  return step.panel ?? [];
}

/**
 * Walk through the answers of a consultation, asking the service step by step.
 *
 * Steps that an earlier path of the same model, budget and known values shares are not asked again, so that one
 * more answer is one request. An answer to a question that was not asked for at first is used when it is. A panel
 * comes when the answers to single questions have run out; its answers are all paid for, one after the other.
 */
export async function replay(ask: AskService, made: Consultation, before: Earlier | null = null): Promise<Path> {
  const earlier = before !== null && sameStart(before.made, made) ? before.path : null;
  const answers = new Map(made.answers.map((entry) => [entry.feature, entry]));
  const together = new Set(made.panels.flat());
  const panels = made.panels.map((panel) => [...panel]);
  const rounds: string[][] = [];
  const told: Entry[] = [];
  const step = async (): Promise<Step> => {
    const answer = await ask(requestOf(made, told, rounds));
    if (answer.version !== made.version) throw new ModelReplaced();
    return answer;
  };
  const first = earlier?.first ?? (await step());
  const steps: PathStep[] = [];
  let now = first;
  let shared = earlier !== null;
  const tell = async (entry: Entry, asked: Ask | null): Promise<void> => {
    told.push(entry);
    const known = shared ? earlier?.steps[steps.length] : undefined;
    shared = known !== undefined && sameEntry(known.entry, entry) && known.inPanel === together.has(entry.feature);
    const after: Step = shared && known ? known.after : await step();
    // What a panel's test costs is known by what it added.
    const question = asked ?? { feature: entry.feature, price: after.spent - now.spent, group: null };
    steps.push({ ask: question, entry, after, inPanel: together.has(entry.feature) });
    now = after;
  };
  while (now.ask !== null) {
    const entry = together.has(now.ask.feature) ? undefined : answers.get(now.ask.feature);
    if (entry !== undefined) {
      await tell(entry, now.ask);
      continue;
    }
    const panel = panels.shift();
    if (panel === undefined) break;
    const round: string[] = [];
    rounds.push(round);
    for (const feature of panel) {
      round.push(feature);
      await tell(answers.get(feature) as Entry, null);
    }
  }
  const used = new Set(told.map((entry) => entry.feature));
  return { first, steps, unused: made.answers.filter((entry) => !used.has(entry.feature)), rounds };
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
