// Texts and numbers in the language of the reader. Another language is one more catalogue in locales/.

import { de } from "./locales/de";
import { type Catalogue, en, type Key } from "./locales/en";

export const CATALOGUES: Readonly<Record<string, { name: string; texts: Catalogue }>> = {
  en: { name: "English", texts: en },
  de: { name: "Deutsch", texts: de },
};

export class Language {
  private readonly texts: Catalogue;
  readonly decimal: "." | ",";
  private readonly numberFormat: Intl.NumberFormat;
  private readonly percentFormat: Intl.NumberFormat;
  private readonly valueFormat: Intl.NumberFormat;
  private readonly moneyFormats = new Map<number, Intl.NumberFormat>();

  constructor(readonly code: string) {
    this.texts = (CATALOGUES[code] ?? { texts: en }).texts;
    this.numberFormat = new Intl.NumberFormat(code, { maximumSignificantDigits: 6 });
    this.percentFormat = new Intl.NumberFormat(code, { style: "percent", maximumFractionDigits: 0 });
    this.valueFormat = new Intl.NumberFormat(code, { maximumSignificantDigits: 17 });
    this.decimal = this.numberFormat.format(1.5).includes(",") ? "," : ".";
  }

  t(key: Key, values: Readonly<Record<string, string | number>> = {}): string {
    return this.texts[key].replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
  }

  number(value: number): string {
    return this.numberFormat.format(value);
  }

  /** A value that somebody entered: all of its digits. */
  value(value: number): string {
    const size = Math.abs(value);
    // Nobody counts twenty zeros.
    const isPlain = size === 0 || (size >= 1e-6 && size < 1e15);
    return isPlain ? this.valueFormat.format(value) : String(value).replace(".", this.decimal);
  }

  /** The probability of a class: an estimate from finitely many rows, so never certain. */
  probability(share: number): string {
    return this.percent(Math.min(Math.max(share, 1e-9), 1 - 1e-9));
  }

  percent(share: number): string {
    // Neither 0 % nor 100 % unless it is that.
    if (share > 0 && share < 0.005) return `<\u2009${this.percentFormat.format(0.01)}`;
    if (share < 1 && share > 0.995) return `>\u2009${this.percentFormat.format(0.99)}`;
    return this.percentFormat.format(share);
  }

  /** An amount with as many decimals as the prices of the model need; prices that are all whole have two. */
  money(amount: number, unit: string, decimals = 2): string {
    const format = this.moneyFormats.get(decimals) ?? new Intl.NumberFormat(this.code, { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
    this.moneyFormats.set(decimals, format);
    const text = format.format(Math.abs(amount) < 0.5 * 10 ** -decimals ? 0 : amount);
    return unit ? `${text}\u00a0${unit}` : text;
  }
}

/** The first of the reader's languages that there is a catalogue for. */
export function preferred(wanted: readonly string[]): string {
  const found = wanted.map((one) => one.toLowerCase().split("-")[0] as string).find((one) => one in CATALOGUES);
  return found ?? "en";
}
