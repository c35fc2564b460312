// The prediction, so far or at the end, and how it came about.

import { h, svg } from "../dom";
import { lastStep } from "../replay";
import type { Decision } from "../types";
import { type View, classText, money, predictionText } from "./view";

const MOST_BARS = 6;
const WIDTH = 600;
const HEIGHT = 120;

export function beliefCard(view: View): HTMLElement {
  const { ask, decision } = lastStep(view.path);
  const title = ask === null ? "beliefAtEnd" : "belief";
  return h(
    "section",
    { id: "belief", class: "card", "aria-labelledby": "belief-title" },
    h("h2", { id: "belief-title", class: "card-title" }, view.lang.t(title)),
    decision.classes === null ? h("p", { class: "figure" }, predictionText(view, decision)) : bars(view, decision),
    view.path.steps.length > 0 ? history(view, decision) : null,
  );
}

/** The prediction and the spend in one line; the cards below say the same. */
export function strip(view: View): HTMLElement {
  const { decision } = lastStep(view.path);
  const dot = h("span", { class: "dot" });
  const place = decision.classes?.indexOf(decision.prediction) ?? -1;
  if (place >= 0) dot.style.setProperty("--class", view.sheet.classColour(place));
  return h("div", { class: "strip", "aria-hidden": "true" }, dot, h("span", { class: "what" }, predictionText(view, decision)), h("span", { class: "number" }, money(view, decision.spent)));
}

function bars(view: View, decision: Decision): HTMLElement {
  const { lang, sheet } = view;
  const shares = decision.probabilities ?? [];
  const classes = decision.classes ?? [];
  const order = classes.map((_, place) => place);
  if (order.length > MOST_BARS) order.sort((a, b) => (shares[b] ?? 0) - (shares[a] ?? 0));
  const list = h("ul", { id: "bars", class: "bars" });
  for (const place of order.slice(0, MOST_BARS)) {
    const filled = h("span", { class: "fill" });
    filled.style.setProperty("width", `${100 * (shares[place] ?? 0)}%`);
    filled.style.setProperty("--class", sheet.classColour(place));
    list.append(
      h(
        "li",
        { class: classes[place] === decision.prediction ? "top" : "" },
        h("span", { class: "name" }, classText(view, place)),
        h("span", { class: "number" }, lang.probability(shares[place] ?? 0)),
        h("span", { class: "track", "aria-hidden": "true" }, filled),
      ),
    );
  }
  if (order.length > MOST_BARS) list.append(h("li", { class: "note" }, lang.t("and_more", { n: order.length - MOST_BARS })));
  return list;
}

function history(view: View, last: Decision): HTMLElement {
  const { lang, sheet, path } = view;
  const place = last.classes?.indexOf(last.prediction) ?? -1;
  const decisions = [path.first.decision, ...path.steps.map((step) => step.after.decision)];
  const values = decisions.map((one) => (place < 0 ? Number(one.prediction) : (one.probabilities?.[place] ?? 0)));
  const text = (value: number): string => (place < 0 ? lang.number(value) : lang.probability(value));
  const titles = [lang.t("at_start"), ...path.steps.map((step) => lang.t("after", { title: sheet.title(step.ask.feature) }))];
  const about = place < 0 ? lang.t("history_value") : lang.t("history_of", { name: classText(view, place) });
  return h(
    "details",
    { class: "history", open: true },
    h("summary", {}, lang.t("history")),
    chart(values, place < 0 ? null : [0, 1], place < 0 ? "" : sheet.classColour(place)),
    h(
      "table",
      { id: "history" },
      h("caption", {}, about),
      h(
        "tbody",
        {},
        ...values.map((value, step) =>
          h("tr", {}, h("th", { scope: "row" }, titles[step] ?? ""), h("td", { class: "number" }, text(value))),
        ),
      ),
    ),
  );
}

/** The table below it has the numbers, so the chart itself is decoration to those who listen. */
function chart(values: number[], range: [number, number] | null, colour: string): SVGElement {
  const [low, high] = range ?? [Math.min(...values), Math.max(...values)];
  const x = (step: number): number => 10 + ((WIDTH - 20) * step) / Math.max(1, values.length - 1);
  const y = (value: number): number => (high > low ? HEIGHT - 10 - ((HEIGHT - 20) * (value - low)) / (high - low) : HEIGHT / 2);
  const made = svg("svg", { id: "chart", class: "chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true" });
  if (colour !== "") made.style.setProperty("--class", colour);
  for (const level of [10, HEIGHT / 2, HEIGHT - 10]) made.append(svg("line", { class: "axis", x1: 0, x2: WIDTH, y1: level, y2: level }));
  made.append(svg("polyline", { class: "line", points: values.map((value, step) => `${x(step)},${y(value)}`).join(" ") }));
  values.forEach((value, step) => made.append(svg("circle", { class: "dot", cx: x(step), cy: y(value), r: step === values.length - 1 ? 7 : 4.5 })));
  return made;
}
