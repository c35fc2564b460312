// A small model for the tests: three tests, two of which share a blood sample.

import type { ModelInfo, Step, StepRequest } from "../src/types";

export const MODEL: ModelInfo = {
  name: "heart",
  method: "BudgetTreeClassifier",
  version: "v1",
  n_features: 4,
  fault: null,
  title: "Heart disease",
  unit: "CAD",
  budget: null,
  mean_budget: null,
  total: 12.37,
  classes: [0, 1],
  class_labels: [
    { name: "healthy", colour: "#1b7a4b" },
    { name: "1", colour: "" },
  ],
  features: [
    { name: "age", kind: "numeric", categories: [], cost: 1, group: null, label: { title: "Age", question: "", unit: "years", allowed: [0, 120], usual: [37, null], categories: {} } },
    { name: "chol", kind: "numeric", categories: [], cost: 5.17, group: "blood", label: null },
    { name: "fbs", kind: "numeric", categories: [], cost: 3.1, group: "blood", label: { title: "Sugar", question: "", unit: "", allowed: null, usual: null, categories: { "0": "no", "1": "yes" } } },
    { name: "cp", kind: "categorical", categories: [1, 4, true], cost: 1, group: null, label: { title: "Pain", question: "", unit: "", allowed: null, usual: null, categories: { "4": "none", True: "so" } } },
  ],
  groups: [{ name: "blood", cost: 2.1, members: ["chol", "fbs"] }],
  calls: [{ name: "trees", cost: 0.5 }],
  frontier: null,
};

/** A service that asks for age, then for chol if age is over 50, else for cp; it notes what it was asked. */
export class FakeService {
  requests: StepRequest[] = [];
  version = "v1";

  ask = async (request: StepRequest): Promise<Step> => {
    this.requests.push(structuredClone(request));
    const has = (name: string): boolean => Object.hasOwn({ ...request.given, ...request.known }, name) || request.refused.includes(name);
    const age = { ...request.given, ...request.known }["age"];
    const wanted = !has("age") ? "age" : Number(age) > 50 ? "chol" : "cp";
    const acquired = Object.keys(request.known);
    const spent = acquired.length;
    return {
      ask: has(wanted) ? null : { feature: wanted, price: 1, group: null },
      decision: { prediction: 1, classes: [0, 1], probabilities: [0.4, 0.6], spent, acquired },
      spent,
      left: null,
      unused: [],
      unseen: [],
      version: this.version,
    };
  };
}
