// Whether a value can be right, by the ranges of the sheet of labels.

import type { Bounds, Feature, Value } from "./types";

export type Verdict = { kind: "fine" } | { kind: "refused" | "unusual"; bounds: Bounds };

export function judge(feature: Feature, value: Value): Verdict {
  if (typeof value !== "number" || feature.label === null) return { kind: "fine" };
  const { allowed, usual } = feature.label;
  if (allowed !== null && isOutside(value, allowed)) return { kind: "refused", bounds: allowed };
  if (usual !== null && isOutside(value, usual)) return { kind: "unusual", bounds: usual };
  return { kind: "fine" };
}

function isOutside(value: number, [low, high]: Bounds): boolean {
  return (low !== null && value < low) || (high !== null && value > high);
}
