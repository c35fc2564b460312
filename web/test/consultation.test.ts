import assert from "node:assert/strict";
import { test } from "node:test";
import { type Consultation, carriedOver, newConsultation, parseConsultation, requestOf, withAnswer, withGiven, withPanel, withoutAnswer } from "../src/consultation";
import { decodeAddress, encodeAddress } from "../src/keeping";
import { ModelReplaced, lastStep, panelAfter, replay } from "../src/replay";
import { FakeService } from "./model";

const start = newConsultation("heart", "v1");
const answered = (made: Consultation, ...pairs: [string, number][]): Consultation =>
  pairs.reduce((one, [feature, value]) => withAnswer(one, { feature, value }), made);

test("one more answer is one request", async () => {
  const service = new FakeService();
  const first = await replay(service.ask, start);
  assert.equal(lastStep(first).ask?.feature, "age");
  const made = answered(start, ["age", 60]);
  const second = await replay(service.ask, made, { made: start, path: first });
  assert.equal(service.requests.length, 2);
  assert.deepEqual(service.requests[1]?.known, { age: 60 });
  assert.equal(lastStep(second).ask?.feature, "chol");
});

test("taking an answer back asks nothing", async () => {
  const service = new FakeService();
  const made = answered(start, ["age", 60], ["chol", 200]);
  const path = await replay(service.ask, made);
  assert.equal(service.requests.length, 3);
  const before = await replay(service.ask, withoutAnswer(made, "chol"), { made, path });
  assert.equal(service.requests.length, 3);
  assert.equal(lastStep(before).ask?.feature, "chol");
});

test("a changed answer replays the walk, and keeps what is not asked for any more", async () => {
  const service = new FakeService();
  const made = answered(start, ["age", 60], ["chol", 200]);
  const path = await replay(service.ask, made);
  const young = answered(made, ["age", 40]);
  const other = await replay(service.ask, young, { made, path });
  assert.equal(lastStep(other).ask?.feature, "cp");
  assert.deepEqual(other.unused, [{ feature: "chol", value: 200 }]);
  assert.deepEqual(service.requests.at(-1)?.known, { age: 40 }, "what is not used is not sent");
  const back = await replay(service.ask, answered(young, ["age", 61]), { made: young, path: other });
  assert.equal(lastStep(back).ask, null, "the answer is used again");
  assert.deepEqual(back.unused, []);
});

test("a path of another start is not shared", async () => {
  const service = new FakeService();
  const path = await replay(service.ask, start);
  await replay(service.ask, { ...start, budget: 3 }, { made: start, path });
  assert.equal(service.requests.at(-1)?.budget, 3);
  const known = withGiven(answered(start, ["age", 30]), "age", 70);
  assert.deepEqual(known.answers, []);
  assert.equal(lastStep(await replay(service.ask, known, { made: start, path })).ask?.feature, "chol");
});

test("a replaced model is noticed at once", async () => {
  const service = new FakeService();
  const path = await replay(service.ask, start);
  service.version = "v2";
  await assert.rejects(replay(service.ask, answered(start, ["age", 60]), { made: start, path }), ModelReplaced);
});

test("a column may have any name", () => {
  const made = answered(start, ["__proto__", 1], ["constructor", 2]);
  const request = requestOf(made, [...made.answers, { feature: "x", refused: true }]);
  assert.equal(JSON.stringify(request.known), '{"__proto__":1,"constructor":2}');
  assert.deepEqual(request.refused, ["x"]);
});

test("what is stored is read back, and nothing else", () => {
  const made = withGiven(answered(start, ["größe", 1.5]), "sex", null);
  assert.deepEqual(decodeAddress(encodeAddress(made)), made);
  assert.equal(decodeAddress("#c=%%%"), null);
  assert.equal(decodeAddress("#other"), null);
  const bad = [
    null,
    [],
    { ...made, budget: -1 },
    { ...made, budget: "1" },
    { ...made, answers: [{ feature: "a", value: {} }] },
    { ...made, answers: [{ feature: "a", value: ["x"] }] },
    { ...made, answers: [{ feature: "a" }] },
    { ...made, answers: [{ feature: "sex", value: 1 }] },
    { ...made, given: {} },
    { ...made, stopped: 1 },
  ];
  for (const plain of bad) assert.equal(parseConsultation(plain), null, JSON.stringify(plain));
});

test("another file takes over what fits it", () => {
  const made = answered(withGiven(start, "sex", 1), ["age", 60], ["chol", 5]);
  const taken = carriedOver(made, "v2", (feature) => feature !== "age");
  assert.deepEqual(taken.dropped, ["age"]);
  assert.equal(taken.made.version, "v2");
  assert.deepEqual(taken.made.answers, [{ feature: "chol", value: 5 }]);
});

test("a panel is told test by test, after what was asked alone", async () => {
  const service = new FakeService();
  const alone = answered(start, ["age", 60]);
  const path = await replay(service.ask, alone);
  const made = withPanel(alone, [
    { feature: "chol", value: 200 },
    { feature: "cp", refused: true },
  ]);
  assert.deepEqual(made.panels, [["chol", "cp"]]);
  service.requests = [];
  // The model would end after chol; what was ordered is told all the same.
  const all = await replay(service.ask, made, { made: alone, path });
  assert.deepEqual(service.requests.map((one) => one.rounds), [[["chol"]], [["chol", "cp"]]]);
  assert.deepEqual(service.requests.at(-1)?.known, { age: 60, chol: 200 });
  assert.deepEqual(service.requests.at(-1)?.refused, ["cp"]);
  assert.deepEqual(all.steps.map((step) => [step.ask.feature, step.ask.price, step.inPanel]), [
    ["age", 1, false],
    ["chol", 1, true],
    ["cp", 0, true],
  ]);
  assert.deepEqual(all.unused, []);
  service.requests = [];
  await replay(service.ask, withAnswer(made, { feature: "cp", value: 4 }), { made, path: all });
  assert.equal(service.requests.length, 1, "what comes before a changed answer is not asked again");
});

test("panels are kept with the consultation, and follow its answers", () => {
  const made = withPanel(start, [
    { feature: "age", value: 60 },
    { feature: "cp", value: 4 },
  ]);
  assert.deepEqual(decodeAddress(encodeAddress(made)), made);
  assert.deepEqual(withoutAnswer(made, "age").panels, [["cp"]]);
  assert.deepEqual(withGiven(withoutAnswer(made, "age"), "cp", 4).panels, []);
  assert.deepEqual(carriedOver(made, "v2", (feature) => feature === "age").made.panels, [["age"]]);
  const { panels, ...older } = made;
  assert.equal(panels.length, 1);
  assert.deepEqual(parseConsultation(older)?.panels, [], "one that was stored before there were panels");
  for (const bad of [7, [[]], [["chol"]], [["age"], ["age"]]]) assert.equal(parseConsultation({ ...made, panels: bad }), null);
});

test("the questions of a panel are asked for with the rounds before it", async () => {
  const service = new FakeService();
  const made = withPanel(start, [{ feature: "age", value: 60 }]);
  const path = await replay(service.ask, made);
  assert.deepEqual(await panelAfter(service.ask, made, path, 3), []);
  assert.equal(service.requests.at(-1)?.panel, 3);
  assert.deepEqual(service.requests.at(-1)?.rounds, [["age"]]);
  await panelAfter(service.ask, start, await replay(service.ask, start), 2);
  assert.deepEqual(service.requests.at(-1)?.rounds, [], "no rounds, rather than one of all answers");
});
