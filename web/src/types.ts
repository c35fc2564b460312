// What the service sends and takes; its own schemas are in /openapi.json.

export type Scalar = number | string | boolean;
/** An answer: a value, the message of a device, or null for "measured, but missing". */
export type Value = Scalar | number[] | null;
export type Bounds = [number | null, number | null];

export interface FeatureMeaning {
  title: string;
  question: string;
  unit: string;
  allowed: Bounds | null;
  usual: Bounds | null;
  categories: Record<string, string>;
}

export interface Feature {
  name: string;
  kind: string; // numeric, categorical or device
  categories: Scalar[];
  cost: number;
  group: string | null;
  label: FeatureMeaning | null;
}

export interface Group {
  name: string;
  cost: number;
  members: string[];
}

export interface ModelSummary {
  name: string;
  method: string;
  version: string;
  n_features: number;
  fault: string | null;
}

export interface ModelInfo extends ModelSummary {
  title: string;
  unit: string;
  budget: number | null;
  mean_budget: number | null;
  total: number;
  classes: Scalar[] | null;
  class_labels: { name: string; colour: string }[] | null;
  features: Feature[];
  groups: Group[];
  calls: { name: string; cost: number }[];
  frontier: { method?: string; spend?: number | null; score?: number | null; budget_kind?: string | null } | null;
}

export interface Ask {
  feature: string;
  price: number;
  group: string | null;
  /** What it takes of further resources, such as minutes. */
  resources?: Record<string, number> | null;
}

/** One of the answers that make a difference, and what it would lead to. */
export interface ReasonOutcome {
  /** The answers that it stands for: "<= 3.5", "> 3.5, <= 5", "a, b" or "missing". */
  answer: string;
  probability: number;
  prediction: Scalar;
  probabilities: number[] | null;
  asks: string | null;
}

export interface Reason {
  measure: string;
  risk: number | null;
  fall: number | null;
  outcomes: ReasonOutcome[];
}

export interface StopReason {
  kind: string; // finished, or budget
  too_expensive: string[];
  refused: string[];
}

export interface Decision {
  prediction: Scalar;
  classes: Scalar[] | null;
  probabilities: number[] | null;
  spent: number;
  acquired: string[];
  resources?: Record<string, number> | null;
}

/** The answer to one step of a walk. */
export interface Step {
  ask: Ask | null;
  decision: Decision;
  spent: number;
  left: number | null;
  unused: string[];
  unseen: string[];
  version: string;
  /** Questions to ask at once, if they were wanted. */
  panel?: Ask[] | null;
  /** Why the feature is asked for, and why the walk has ended. */
  reason?: Reason | null;
  stop_reason?: StopReason | null;
}

export interface StepRequest {
  given: Record<string, Value>;
  known: Record<string, Value>;
  refused: string[];
  budget: number | null;
  /** The features that were answered together, panel by panel. */
  rounds?: readonly (readonly string[])[];
  /** How many questions to ask at once are wanted. */
  panel?: number;
}
