import assert from "node:assert/strict";
import { test } from "node:test";
import { newConsultation } from "../src/consultation";
import { Language } from "../src/i18n";
import { Sheet } from "../src/sheet";
import { answerText, outcomeText, riskText } from "../src/views/reason";
import type { View } from "../src/views/view";
import { MODEL } from "./model";

const view = (code: string): View => ({ sheet: new Sheet(MODEL), made: newConsultation("heart", "v1"), lang: new Language(code) }) as unknown as View;

test("answers of a reason are told in the words of the labels", () => {
  const en = view("en");
  assert.equal(answerText(en, "cp", "4, 1"), "none, 1", "what has no text stays as it is");
  assert.equal(answerText(en, "fbs", "<= 0.5"), "no");
  assert.equal(answerText(en, "fbs", "> 0.5"), "yes");
  assert.equal(answerText(en, "age", "<= 54.5"), "\u2264\u00a054.5\u00a0years");
  assert.equal(answerText(view("de"), "age", "> 54.5"), ">\u00a054,5\u00a0years");
  assert.equal(answerText(en, "age", "> 40, <= 54.5"), ">\u00a040, \u2264\u00a054.5\u00a0years");
  assert.equal(answerText(en, "fbs", "> -1, <= 0.5"), "no");
  assert.equal(answerText(en, "chol", "> 1e+30"), ">\u00a01,000,000,000,000,000,000,000,000,000,000");
  assert.equal(answerText(en, "chol", "missing"), "no result");
  assert.equal(answerText(en, "chol", "a, b"), "a, b");
});

test("an outcome says what is predicted and what comes next", () => {
  const outcome = { answer: "4", probability: 0.48, prediction: 0, probabilities: [0.73, 0.27], asks: "age" };
  assert.equal(outcomeText(view("en"), "cp", outcome), "none (48%): healthy 73%, then Age");
  assert.equal(outcomeText(view("de"), "cp", { ...outcome, asks: null }), "none (48\u00a0%): healthy 73\u00a0%, und keine Frage mehr");
  assert.equal(outcomeText(view("en"), "age", { answer: "<= 3", probability: 1, prediction: 2.5, probabilities: null, asks: null }), "\u2264\u00a03\u00a0years (100%): 2.5, and no more questions");
});

test("a risk that does not fall is told as such, in the reader's language", () => {
  const reason = { measure: "error", risk: 0.0437, fall: -0.001, outcomes: [] };
  assert.equal(riskText(view("en"), reason), "Expected error: 0.044. By estimate this answer alone changes it little.");
  assert.equal(riskText(view("en"), { ...reason, measure: "Brier score", risk: 0.506, fall: 0.001 }), "Expected Brier score: 0.51. By estimate this answer alone changes it little.");
  assert.equal(riskText(view("de"), { ...reason, measure: "Brier score", fall: 0.01 }), "Erwartet (Brier-Score): 0,044, nach der Antwort etwa 0,034.");
  assert.equal(riskText(view("en"), { ...reason, risk: null }), null);
  assert.equal(riskText(view("en"), { ...reason, fall: null }), null);
});
