import assert from "node:assert/strict";
import { test } from "node:test";
import { baseOf } from "../src/api";
import { CATALOGUES, Language, preferred } from "../src/i18n";
import { type Key, en } from "../src/locales/en";

const names = (text: string): string[] => [...text.matchAll(/\{(\w+)\}/g)].map((found) => found[1] as string).sort();

test("every catalogue has every text, with the same places", () => {
  for (const [code, { texts }] of Object.entries(CATALOGUES)) {
    assert.deepEqual(Object.keys(texts).sort(), Object.keys(en).sort(), code);
    for (const key of Object.keys(en) as Key[]) {
      assert.ok(texts[key].trim() !== "", `${code}: ${key}`);
      assert.deepEqual(names(texts[key]), names(en[key]), `${code}: ${key}`);
    }
  }
});

test("numbers are written as the language writes them", () => {
  assert.equal(new Language("en").money(1234.5, "CAD"), "1,234.50\u00a0CAD");
  assert.equal(new Language("de").money(1234.5, ""), "1.234,50");
  assert.equal(new Language("en").money(0.0014, "s", 4), "0.0014\u00a0s");
  assert.equal(new Language("de").decimal, ",");
  assert.equal(new Language("en").percent(0.734), "73%");
  assert.equal(new Language("en").percent(0.9999), ">\u200999%", "not certain");
  assert.equal(new Language("en").percent(1), "100%");
  assert.equal(new Language("en").probability(1), ">\u200999%", "an estimate is never certain");
  assert.equal(new Language("en").probability(0), "<\u20091%");
  assert.equal(new Language("de").probability(0.5), "50\u00a0%");
  assert.equal(new Language("en").percent(0.0001), "<\u20091%");
});

test("values are written with all of their digits", () => {
  assert.equal(new Language("en").value(1234567.25), "1,234,567.25");
  assert.equal(new Language("de").value(0.1), "0,1");
  assert.equal(new Language("de").value(-1.5e-9), "-1,5e-9");
  assert.equal(new Language("en").value(2 ** 70), "1.1805916207174113e+21");
});

test("the reader's language is taken if there is one", () => {
  assert.equal(preferred(["fr-FR", "de-CH", "en"]), "de");
  assert.equal(preferred(["fr"]), "en");
});

test("the service is found under any path", () => {
  assert.equal(baseOf("/"), "/");
  assert.equal(baseOf("/tools/farthing"), "/tools/farthing/");
  assert.equal(baseOf("/tools/farthing/"), "/tools/farthing/");
});
