// The field for one value: choices, a list, a number or the message of a device. Nothing is chosen beforehand.

import { fill, h, newId } from "./dom";
import type { Language } from "./i18n";
import { bothReadings, parseMessage, parseNumber, typedText } from "./numbers";
import type { Sheet } from "./sheet";
import type { Bounds, Value } from "./types";
import { judge } from "./validate";

const MOST_BUTTONS = 9;

export interface Field {
  element: HTMLElement;
  /** Give the value to `accept`, once it is one and is meant; else say what is wrong, next to the field. */
  offer(accept: (value: Value) => void): void;
  /** Say what the service found wrong. */
  fail(message: string): void;
  focus(): void;
  /** Choose by number; false if there is no such choice. */
  choose(place: number): boolean;
  /** Whether the field is text, which takes keys. */
  readonly isText: boolean;
}

export interface FieldOptions {
  id: string;
  labelledBy: string;
  initial?: Value | undefined;
  keys: boolean;
  changed?: () => void;
}

type Reading = { value: Value } | { fault: string };

interface Part {
  element: HTMLElement;
  input: HTMLElement;
  read(): Reading;
  choose?(place: number): boolean;
}

export function valueField(sheet: Sheet, lang: Language, name: string, options: FieldOptions): Field {
  const feature = sheet.feature(name);
  const choices = sheet.choices(name);
  const hint = h("p", { id: newId("hint"), class: "hint" }, hintText(sheet, lang, name));
  const error = h("p", { id: "error", class: "field-error", role: "alert" });
  error.id = options.id === "value" ? "error" : newId("error");
  const doubt = h("div", { class: "doubt", hidden: true });
  const described = `${hint.id} ${error.id}`;
  const part =
    choices === null
      ? textPart(lang, feature.kind === "device", described, options, feature.label?.unit ?? "")
      : choices.length <= MOST_BUTTONS
        ? radioPart(lang, choices, described, options)
        : listPart(lang, choices, described, options);

  const say = (message: string): void => {
    error.textContent = message;
    part.input.setAttribute("aria-invalid", String(message !== ""));
  };
  const clear = (): void => {
    say("");
    doubt.hidden = true;
    fill(doubt);
    options.changed?.();
  };
  part.element.addEventListener("input", clear);

  const offer = (accept: (value: Value) => void): void => {
    clear();
    const read = part.read();
    if ("fault" in read) {
      say(read.fault);
      part.input.focus();
      return;
    }
    const verdict = judge(feature, read.value);
    const shown = sheet.valueText(name, read.value, (value) => lang.value(value), lang.t("no_result"));
    if (verdict.kind === "refused") {
      say(lang.t("fault_refused", { value: shown, bounds: boundsText(lang, verdict.bounds) }));
      part.input.focus();
    } else if (verdict.kind === "unusual") {
      // The focus stays in the field: Enter asks again, and only the button accepts.
      const yes = h("button", { type: "button", class: "quiet", on: { click: () => accept(read.value) } });
      yes.textContent = lang.t("doubt_yes", { value: shown });
      const no = h("button", { type: "button", class: "quiet", on: { click: () => (clear(), part.input.focus()) } });
      no.textContent = lang.t("doubt_no");
      const asked = lang.t("doubt", { value: shown, bounds: boundsText(lang, verdict.bounds) });
      fill(doubt, h("p", { role: "alert" }, asked), h("div", { class: "row" }, no, yes));
      doubt.hidden = false;
      part.input.focus();
    } else {
      accept(read.value);
    }
  };
  return {
    element: h("div", { class: "field" }, part.element, hint, error, doubt),
    offer,
    fail: (message) => (say(message), part.input.focus()),
    focus: () => part.input.focus(),
    choose: (place) => part.choose?.(place) ?? false,
    isText: choices === null,
  };
}

function textPart(lang: Language, isDevice: boolean, described: string, options: FieldOptions, unit: string): Part {
  const { initial } = options;
  let shown = "";
  if (Array.isArray(initial)) shown = initial.join("; ");
  else if (typeof initial === "number") shown = typedText(initial, lang.decimal);
  const input = h("input", {
    id: options.id,
    type: "text", // a number field drops a comma on some keyboards: 1,5 would be 15
    inputmode: isDevice ? "text" : "decimal",
    autocomplete: "off",
    enterkeyhint: "go",
    value: shown,
    "aria-labelledby": options.labelledBy,
    "aria-describedby": described,
  });
  const read = (): Reading => {
    const typed = input.value.trim();
    const parsed = isDevice ? parseMessage(typed) : parseNumber(typed, lang.decimal);
    if ("value" in parsed) return { value: parsed.value };
    const both = parsed.fault === "ambiguous" ? bothReadings(typed, lang.decimal) : {};
    return { fault: lang.t(`fault_${parsed.fault}`, { typed, ...both }) };
  };
  const element = h("div", { class: "typed" }, input, unit !== "" && h("span", { class: "unit", "aria-hidden": "true" }, unit));
  return { element, input, read };
}

interface Shown {
  value: Value;
  text: string;
}

function radioPart(lang: Language, choices: Shown[], described: string, options: FieldOptions): Part {
  const group = newId("choice");
  const radios = choices.map((choice, place) =>
    h("input", { type: "radio", name: group, value: place, checked: choice.value === options.initial }),
  );
  const element = h(
    "div",
    { id: options.id === "value" ? "choices" : null, class: "choices", role: "radiogroup", "aria-labelledby": options.labelledBy, "aria-describedby": described },
    ...choices.map((choice, place) =>
      h(
        "label",
        { class: "choice" },
        radios[place],
        h("span", {}, choice.text),
        options.keys && h("kbd", { "aria-hidden": "true" }, String(place + 1)),
      ),
    ),
  );
  const choose = (place: number): boolean => {
    const radio = radios[place];
    if (!radio) return false;
    radio.checked = true;
    radio.focus();
    radio.dispatchEvent(new Event("input", { bubbles: true }));
    return true;
  };
  const read = (): Reading => {
    const place = radios.findIndex((radio) => radio.checked);
    return place < 0 ? { fault: lang.t("fault_choose") } : { value: choices[place]?.value ?? null };
  };
  // The group itself has no focus; its first radio has, and one that is not chosen is not an answer.
  Object.defineProperty(element, "focus", { value: () => (radios.find((radio) => radio.checked) ?? radios[0])?.focus() });
  return { element, input: element, read, choose };
}

function listPart(lang: Language, choices: Shown[], described: string, options: FieldOptions): Part {
  const input = h(
    "select",
    { id: options.id, "aria-labelledby": options.labelledBy, "aria-describedby": described },
    h("option", { value: "" }, lang.t("placeholder_choose")),
    ...choices.map((choice, place) =>
      h("option", { value: place, selected: choice.value === options.initial }, choice.text),
    ),
  );
  const read = (): Reading =>
    input.value === "" ? { fault: lang.t("fault_choose") } : { value: choices[Number(input.value)]?.value ?? null };
  return { element: h("div", { class: "typed" }, input), input, read };
}

function hintText(sheet: Sheet, lang: Language, name: string): string {
  const { kind, label } = sheet.feature(name);
  if (kind === "device") return lang.t("device_hint");
  if (label === null || sheet.choices(name) !== null) return "";
  const parts: string[] = [];
  if (label.allowed !== null) parts.push(lang.t("range_allowed", { bounds: boundsText(lang, label.allowed) }));
  if (label.usual !== null) parts.push(lang.t("range_usual", { bounds: boundsText(lang, label.usual) }));
  return parts.join(" ");
}

export function boundsText(lang: Language, [low, high]: Bounds): string {
  const shown = { low: low === null ? "" : lang.value(low), high: high === null ? "" : lang.value(high) };
  return lang.t(low === null ? "at_most" : high === null ? "at_least" : "between", shown);
}
