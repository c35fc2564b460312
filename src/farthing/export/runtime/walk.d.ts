/** A question: a feature, and what its answer adds to the spend. */
export interface Ask {
  readonly feature: string;
  readonly price: number;
}

/** The prediction so far; final when `ask` is null. */
export interface Decision {
  /** A label, or a number. */
  readonly prediction: string | number | boolean;
  /** The probability of each class; null for a model that predicts numbers. */
  readonly probabilities: readonly { label: string | number | boolean; probability: number }[] | null;
  readonly spent: number;
  /** What was paid for, in the order of the cost sheet. */
  readonly acquired: readonly string[];
}

export type Value = number | string | boolean | null;

/** The prediction of one row, one feature at a time. */
export class Walk {
  /**
   * `budget` is a hard one, null for no limit, by default the model's own; `known` features cost nothing; `seed` is
   * that of drawn votes, a whole number.
   */
  constructor(options?: { budget?: number | null; known?: Record<string, Value>; seed?: number | bigint | string });
  /** The feature wanted next; null when the walk has ended. */
  get ask(): Ask | null;
  /**
   * Answer and pay: a value as a table would hold it, null if it was measured and is missing; the numbers of a
   * message, or the probabilities of another model, if the question is for these.
   */
  tell(value: Value | readonly number[]): void;
  /** The feature cannot be had, which is free. */
  refuse(): void;
  get spent(): number;
  get decision(): Decision;
}

/** What walks may ask for; `categories` is empty for a number. */
export const features: readonly { name: string; categories: readonly (string | number | boolean)[] }[];
/** The labels; null for a model that predicts numbers. */
export const classes: readonly (string | number | boolean)[] | null;
/** The unit of prices. */
export const unit: string;
