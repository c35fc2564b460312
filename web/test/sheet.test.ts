import assert from "node:assert/strict";
import { test } from "node:test";
import { Sheet } from "../src/sheet";
import type { Decision } from "../src/types";
import { judge } from "../src/validate";
import { MODEL } from "./model";

const sheet = new Sheet(MODEL);
const number = (value: number): string => String(value);

const decided = (acquired: string[], spent: number): Decision => ({ prediction: 1, classes: [0, 1], probabilities: [0, 1], spent, acquired });

test("the price is what is paid now", () => {
  assert.deepEqual(sheet.priceNow("chol", new Set()), { price: 5.17 + 2.1, shared: 2.1 });
  assert.deepEqual(sheet.priceNow("chol", new Set(["fbs"])), { price: 5.17, shared: 0 });
  assert.deepEqual(sheet.priceNow("chol", new Set(["chol"])), { price: 0, shared: 0 });
  assert.ok(Math.abs(sheet.sharedPart({ feature: "chol", price: 7.27, group: "blood" }) - 2.1) < 1e-9);
  assert.equal(sheet.sharedPart({ feature: "chol", price: 5.17, group: "blood" }), 0);
});

test("the lines of the receipt sum to what was spent", () => {
  const lines = sheet.receipt(decided(["age", "chol", "fbs", "trees"], 1 + 5.17 + 3.1 + 2.1 + 0.5), new Set(), ["fbs", "age", "chol"]);
  assert.deepEqual(
    lines.map((line) => [line.kind, line.name]),
    [["shared", "blood"], ["feature", "fbs"], ["feature", "age"], ["feature", "chol"], ["call", "trees"]],
  );
  assert.ok(Math.abs(lines.reduce((sum, line) => sum + line.cost, 0) - 11.87) < 1e-9);
});

test("a group with a known member is not charged", () => {
  assert.deepEqual(sheet.receipt(decided(["chol"], 5.17), new Set(["fbs"]), ["chol"]), [{ kind: "feature", name: "chol", cost: 5.17 }]);
  assert.ok(Math.abs(sheet.fullPrice(new Set(["fbs"])) - (1 + 5.17 + 1)) < 1e-9);
});

test("what no line explains is a line of its own", () => {
  assert.deepEqual(sheet.receipt(decided(["age"], 1.5), new Set(), ["age"]).at(-1), { kind: "other", name: "", cost: 0.5 });
});

test("values have their texts and units", () => {
  assert.equal(sheet.valueText("age", 63, number, "-"), "63\u00a0years");
  assert.equal(sheet.valueText("fbs", 1, number, "-"), "yes");
  assert.equal(sheet.valueText("cp", 4, number, "-"), "none");
  assert.equal(sheet.valueText("cp", true, number, "-"), "so");
  assert.equal(sheet.valueText("chol", null, number, "-"), "-");
  assert.deepEqual(sheet.choices("fbs"), [{ value: 0, text: "no" }, { value: 1, text: "yes" }]);
  assert.equal(sheet.choices("chol"), null);
  assert.equal(sheet.className(0), "healthy");
  assert.equal(sheet.className(1), "1");
});

test("a value of another model does not fit", () => {
  assert.ok(sheet.fits("cp", 4));
  assert.ok(!sheet.fits("cp", 2));
  assert.ok(!sheet.fits("age", "old"));
  assert.ok(!sheet.fits("age", [1]));
  assert.ok(!sheet.fits("knee", 1));
  assert.ok(sheet.fits("age", null));
});

test("ranges refuse, and ask back", () => {
  const age = sheet.feature("age");
  assert.equal(judge(age, 130).kind, "refused");
  assert.equal(judge(age, 20).kind, "unusual");
  assert.equal(judge(age, 119).kind, "fine");
  assert.equal(judge(age, null).kind, "fine");
  assert.equal(judge(sheet.feature("chol"), 1e9).kind, "fine");
});

test("a search looks at titles and names, and stops at its limit", () => {
  assert.deepEqual(sheet.search("sug", 10).found, ["fbs"]);
  assert.deepEqual(sheet.search("", 2), { found: ["age", "chol"], count: 4 });
  assert.deepEqual(sheet.search("knee", 2), { found: [], count: 0 });
});
