import assert from "node:assert/strict";
import { test } from "node:test";
import { bothReadings, decimalsOf, parseMessage, parseNumber, roundedParts, typedText } from "../src/numbers";

const value = (typed: string, decimal: "." | "," = "."): unknown => {
  const parsed = parseNumber(typed, decimal);
  return "value" in parsed ? parsed.value : parsed.fault;
};

test("a comma is a decimal comma", () => {
  assert.equal(value("1,5"), 1.5);
  assert.equal(value("1,5", ","), 1.5);
  assert.equal(value(" -0,125 "), -0.125);
  assert.equal(value(",5"), 0.5);
  assert.equal(value("1500,25"), 1500.25);
});

test("a point is a decimal point", () => {
  assert.equal(value("1.5"), 1.5);
  assert.equal(value("1.500"), 1.5);
  assert.equal(value("+2"), 2);
  assert.equal(value("1e3"), 1000);
  assert.equal(value("\u22124"), -4);
});

test("what can be read in two ways is not read", () => {
  assert.equal(value("1,500"), "ambiguous");
  assert.equal(value("-12,345"), "ambiguous");
  assert.equal(value("1.500", ","), "ambiguous");
});

test("what is written into a field is read back as the same number", () => {
  for (const decimal of [".", ","] as const) {
    for (const number of [1.5, 1.234, -12.345, 0.125, 1500, 1e-7, 123456.789, 0]) {
      assert.equal(value(typedText(number, decimal), decimal), number, `${number} ${decimal}`);
    }
  }
  assert.equal(typedText(1.234, ","), "1,2340");
});

test("both readings of an ambiguous number can be typed", () => {
  assert.deepEqual(bothReadings("1,500", "."), { small: "1.5", large: "1500" });
  assert.deepEqual(bothReadings("1.234", ","), { small: "1,2340", large: "1234" });
});

test("what is not a number is not one", () => {
  for (const typed of ["1,5,2", "1.2.3", "1,234.5", "1 500", "a lot", "0x10", "Infinity", "NaN", "--1", "1e", "."]) {
    assert.equal(value(typed), "not_a_number", typed);
  }
  assert.equal(value(""), "empty");
  assert.equal(value("1e999"), "too_large");
});

test("the message of a device is a list of numbers", () => {
  assert.deepEqual(parseMessage("0.5 -1.25"), { value: [0.5, -1.25] });
  assert.deepEqual(parseMessage("0.5;1e2\n3"), { value: [0.5, 100, 3] });
  assert.deepEqual(parseMessage("[1.5, 2]"), { value: [1.5, 2] });
  for (const typed of ["1,5", "[1, null]", "[]", "[1", "x"]) assert.deepEqual(parseMessage(typed), { fault: "message" }, typed);
  assert.deepEqual(parseMessage("  "), { fault: "empty" });
});

test("prices are told apart, however small they are", () => {
  assert.equal(decimalsOf([1, 5, 0]), 2);
  assert.equal(decimalsOf([7.27, 5.2, 101.9]), 2);
  assert.equal(decimalsOf([0.125, 3]), 3);
  assert.equal(decimalsOf([0.0013, 2]), 4);
  assert.equal(decimalsOf([1 / 3, 20]), 2, "no number of decimals is enough");
  assert.equal(decimalsOf([0.00132345678, 0.5]), 4, "two digits of the smallest");
  assert.equal(decimalsOf([1e-12]), 6);
  assert.equal(decimalsOf([]), 2);
});

test("rounded parts sum to the rounded whole", () => {
  assert.deepEqual(roundedParts([1 / 3, 1 / 3, 1 / 3], 2), [0.33, 0.34, 0.33]);
  assert.deepEqual(roundedParts([2.1, 5.17, 1], 2), [2.1, 5.17, 1]);
  assert.deepEqual(roundedParts([0.0004, 0.0004, 0.0004], 3), [0, 0.001, 0]);
  assert.deepEqual(roundedParts([], 2), []);
});
