// Numbers as people type them. A comma is a decimal comma or an error, and never silently dropped.

export type Parsed = { value: number } | { fault: "empty" | "not_a_number" | "ambiguous" | "too_large" };

const PLAIN = /^[+-]?(\d+([.,]\d*)?|[.,]\d+)(e[+-]?\d+)?$/i;
// 1,500 may be one and a half or fifteen hundred. With a leading zero, 0,125, there is no doubt.
const THOUSANDS = /^[+-]?[1-9]\d{0,2}[.,]\d{3}$/;

/**
 * Read a number with a decimal point or a decimal comma.
 *
 * `decimal` is the mark of the page's language: a mark that could be one of thousands is doubtful, unless it is
 * the point of a language with a decimal point.
 */
export function parseNumber(typed: string, decimal: "." | "," = "."): Parsed {
  const text = typed.trim().replace(/\u2212/g, "-");
  if (text === "") return { fault: "empty" };
  if (!PLAIN.test(text)) return { fault: "not_a_number" };
  if (THOUSANDS.test(text) && (text.includes(",") || decimal === ",")) return { fault: "ambiguous" };
  const value = Number(text.replace(",", "."));
  if (!Number.isFinite(value)) return { fault: "too_large" };
  return { value };
}

/** A number as it may be typed, and read in one way only: 1.234 is 1,2340 where the comma is the decimal mark. */
export function typedText(value: number, decimal: "." | ","): string {
  const text = String(value).replace(".", decimal);
  return "fault" in parseNumber(text, decimal) ? `${text}0` : text;
}

const MOST_DECIMALS = 6;

/**
 * How many decimals tell prices apart: the fewest with which each of them is exact, and two at least. Measured
 * times have too many; of these the smallest gets two digits.
 */
export function decimalsOf(prices: Iterable<number>): number {
  const different = [...new Set(prices)].filter((price) => price > 0);
  const isExact = (decimals: number): boolean =>
    different.every((price) => Math.abs(price * 10 ** decimals - Math.round(price * 10 ** decimals)) < 1e-9 * price * 10 ** decimals);
  for (let decimals = 2; decimals <= MOST_DECIMALS; decimals += 1) if (isExact(decimals)) return decimals;
  const least = different.reduce((low, price) => Math.min(low, price), Infinity);
  return Math.min(Math.max(2, 1 - Math.floor(Math.log10(least))), MOST_DECIMALS);
}

/** Parts of a sum, rounded so that they sum to the rounded whole: each is what the rounded sum grows by. */
export function roundedParts(parts: readonly number[], decimals: number): number[] {
  const unit = 10 ** decimals;
  let sum = 0;
  return parts.map((part) => {
    const before = Math.round(sum * unit);
    sum += part;
    return (Math.round(sum * unit) - before) / unit;
  });
}

/** The two numbers that an ambiguous text such as 1,500 may mean, each as text that is read in one way only. */
export function bothReadings(typed: string, decimal: "." | ","): { small: string; large: string } {
  const text = typed.trim();
  return { small: typedText(Number(text.replace(",", ".")), decimal), large: text.replace(/[.,]/, "") };
}

export type ParsedMessage = { value: number[] } | { fault: "empty" | "message" };

/** Read the message of a device: numbers with decimal points, separated by spaces, semicolons or lines, or as a list. */
export function parseMessage(typed: string): ParsedMessage {
  const text = typed.trim();
  if (text === "") return { fault: "empty" };
  if (text.startsWith("[")) {
    try {
      const list: unknown = JSON.parse(text);
      const isList = Array.isArray(list) && list.length > 0 && list.every((one) => typeof one === "number");
      return isList ? { value: list as number[] } : { fault: "message" };
    } catch {
      return { fault: "message" };
    }
  }
  const parts = text.split(/[\s;]+/).filter((part) => part !== "");
  // A comma would be a decimal mark to some and a separator to others.
  if (parts.some((part) => part.includes(","))) return { fault: "message" };
  const numbers = parts.map((part) => parseNumber(part));
  if (numbers.some((number) => !("value" in number))) return { fault: "message" };
  return { value: numbers.map((number) => ("value" in number ? number.value : Number.NaN)) };
}
