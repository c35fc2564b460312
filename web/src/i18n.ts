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
  private readonly moneyFormat: Intl.NumberFormat;

  constructor(readonly code: string) {
    this.texts = (CATALOGUES[code] ?? { texts: en }).texts;
    this.numberFormat = new Intl.NumberFormat(code, { maximumSignificantDigits: 6 });
    this.percentFormat = new Intl.NumberFormat(code, { style: "percent", maximumFractionDigits: 0 });
    this.moneyFormat = new Intl.NumberFormat(code, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
    this.decimal = this.numberFormat.format(1.5).includes(",") ? "," : ".";
  }

  t(key: Key, values: Readonly<Record<string, string | number>> = {}): string {
    return this.texts[key].replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
  }

  number(value: number): string {
    return this.numberFormat.format(value);
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

  money(amount: number, unit: string): string {
    // Prices that are all whole still get two digits, so that columns of them line up.
    const text = this.moneyFormat.format(Math.abs(amount) < 0.005 ? 0 : amount);
    return unit ? `${text}\u00a0${unit}` : text;
  }
}

/** The first of the reader's languages that there is a catalogue for. */
export function preferred(wanted: readonly string[]): string {
  const found = wanted.map((one) => one.toLowerCase().split("-")[0] as string).find((one) => one in CATALOGUES);
  return found ?? "en";
}
