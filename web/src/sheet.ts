// A model's description, indexed: what features are called, and what they cost now.

import { decimalsOf } from "./numbers";
import type { Ask, Decision, Feature, Group, ModelInfo, Scalar, Value } from "./types";

export interface Choice {
  value: Scalar;
  text: string;
}

/** One line of the receipt. */
export interface ReceiptLine {
  kind: "feature" | "shared" | "call" | "other";
  name: string;
  cost: number;
}

const PALETTE = ["#1f6f8b", "#a8541b", "#5b4b9a", "#2f7d4f", "#a23b72", "#6b6b1f", "#3d5a99", "#8a3b3b"];

export class Sheet {
  private readonly byName: Map<string, Feature>;
  private readonly groupOf: Map<string, Group>;
  /** Of amounts of money. */
  readonly decimals: number;

  constructor(readonly about: ModelInfo) {
    this.byName = new Map(about.features.map((feature) => [feature.name, feature]));
    this.groupOf = new Map();
    for (const group of about.groups) for (const member of group.members) this.groupOf.set(member, group);
    this.decimals = decimalsOf([...about.features, ...about.groups, ...about.calls].map((one) => one.cost));
  }

  has(name: string): boolean {
    return this.byName.has(name);
  }

  feature(name: string): Feature {
    const found = this.byName.get(name);
    if (!found) throw new Error(`the model has no feature ${name}`);
    return found;
  }

  group(name: string): Group | null {
    return this.groupOf.get(name) ?? null;
  }

  /** The name of a group as words: price lists write exercise_ecg. */
  groupTitle(name: string): string {
    return name.replaceAll("_", " ");
  }

  title(name: string): string {
    return this.byName.get(name)?.label?.title || name;
  }

  /** What may be chosen, or null if a number or a message is typed. */
  choices(name: string): Choice[] | null {
    const { kind, categories, label } = this.feature(name);
    if (kind === "categorical") return categories.map((value) => ({ value, text: this.categoryText(name, value) }));
    const codes = Object.entries(label?.categories ?? {});
    if (kind !== "numeric" || codes.length === 0) return null;
    const choices = codes.map(([code, text]) => ({ value: Number(code), text }));
    return choices.every((choice) => Number.isFinite(choice.value)) ? choices : null;
  }

  private categoryText(name: string, value: Scalar): string {
    const texts = this.feature(name).label?.categories;
    // Python writes booleans with a capital letter.
    const key = typeof value === "boolean" ? (value ? "True" : "False") : String(value);
    return texts && Object.hasOwn(texts, key) ? (texts[key] as string) : String(value);
  }

  /** A value as text, with its unit. */
  valueText(name: string, value: Value, number: (value: number) => string, missing: string): string {
    if (value === null) return missing;
    if (Array.isArray(value)) return value.map(number).join("; ");
    const choice = this.has(name) ? this.choices(name)?.find((one) => one.value === value) : undefined;
    if (choice) return choice.text;
    const unit = this.byName.get(name)?.label?.unit;
    const text = typeof value === "number" ? number(value) : String(value);
    return unit ? `${text}\u00a0${unit}` : text;
  }

  /** Whether a value could be an answer to a feature. */
  fits(name: string, value: Value): boolean {
    const feature = this.byName.get(name);
    if (!feature) return false;
    if (value === null) return true;
    if (feature.kind === "device") return Array.isArray(value);
    if (feature.kind === "categorical") return !Array.isArray(value) && feature.categories.includes(value);
    return typeof value === "number" || typeof value === "boolean";
  }

  className(place: number): string {
    return this.about.class_labels?.[place]?.name || String(this.about.classes?.[place]);
  }

  classColour(place: number): string {
    return this.about.class_labels?.[place]?.colour || (PALETTE[place % PALETTE.length] as string);
  }

  /** What a feature costs now, and which part of it is the shared cost of its group. */
  priceNow(name: string, owned: ReadonlySet<string>): { price: number; shared: number } {
    if (owned.has(name)) return { price: 0, shared: 0 };
    const group = this.group(name);
    const shared = group && !group.members.some((member) => owned.has(member)) ? group.cost : 0;
    return { price: this.feature(name).cost + shared, shared };
  }

  /** The part of a question's price that is the shared cost of its group. */
  sharedPart(ask: Ask): number {
    const group = this.group(ask.feature);
    const own = this.feature(ask.feature).cost;
    return group && ask.price > own ? ask.price - own : 0;
  }

  /** What was paid for, line by line; the lines sum to what was spent. */
  receipt(decision: Decision, given: ReadonlySet<string>, order: readonly string[]): ReceiptLine[] {
    const lines: ReceiptLine[] = [];
    const paid = new Set<Group>();
    const place = new Map(order.map((name, index) => [name, index]));
    const bought = [...decision.acquired].sort((a, b) => (place.get(a) ?? Infinity) - (place.get(b) ?? Infinity) || 0);
    for (const name of bought) {
      const feature = this.byName.get(name);
      if (!feature) {
        const cost = this.about.calls.find((call) => call.name === name)?.cost ?? 0;
        lines.push({ kind: "call", name, cost });
        continue;
      }
      const group = this.group(name);
      if (group && !paid.has(group) && !group.members.some((member) => given.has(member))) {
        paid.add(group);
        if (group.cost > 0) lines.push({ kind: "shared", name: group.name, cost: group.cost });
      }
      lines.push({ kind: "feature", name, cost: feature.cost });
    }
    const rest = decision.spent - lines.reduce((sum, line) => sum + line.cost, 0);
    if (Math.abs(rest) > 1e-6 * Math.max(1, decision.spent)) lines.push({ kind: "other", name: "", cost: rest });
    return lines;
  }

  /** What all features that are not known from the start would cost. */
  fullPrice(given: ReadonlySet<string>): number {
    let total = 0;
    for (const feature of this.about.features) if (!given.has(feature.name)) total += feature.cost;
    for (const group of this.about.groups) {
      if (!group.members.some((member) => given.has(member))) total += group.cost;
    }
    return total;
  }

  /** The first features whose title or name has all words of a query, and how many there are. */
  search(query: string, limit: number, wanted: (name: string) => boolean = () => true): { found: string[]; count: number } {
    const words = query.toLowerCase().split(/\s+/).filter((word) => word !== "");
    const found: string[] = [];
    let count = 0;
    for (const { name, label } of this.about.features) {
      const text = `${label?.title ?? ""} ${name}`.toLowerCase();
      if (!words.every((word) => text.includes(word)) || !wanted(name)) continue;
      count += 1;
      if (found.length < limit) found.push(name);
    }
    return { found, count };
  }
}
