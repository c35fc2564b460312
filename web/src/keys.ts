// Single-letter shortcuts. They do nothing in text fields and dialogues, and can be turned off.

import { isModalOpen } from "./views/dialog";

export interface KeyActions {
  choose(place: number): boolean;
  submit(): void;
  missing(): void;
  refuse(): void;
  undo(): void;
  decide(): void;
  whatIf(): void;
  startNew(): void;
}

export function listen(isOn: () => boolean, actions: KeyActions): void {
  const verbs: Record<string, () => void> = {
    m: actions.missing,
    r: actions.refuse,
    u: actions.undo,
    d: actions.decide,
    w: actions.whatIf,
    n: actions.startNew,
  };
  document.addEventListener("keydown", (event) => {
    // A key that is held answers nothing.
    if (!isOn() || event.repeat || event.ctrlKey || event.altKey || event.metaKey || isModalOpen()) return;
    const target = event.target as HTMLElement;
    if (target.matches("input:not([type=radio]):not([type=checkbox]), select, textarea")) {
      // From a field, Escape leads to where the keys work.
      if (event.key === "Escape") document.getElementById("question-title")?.focus();
      return;
    }
    const verb = verbs[event.key];
    if (/^[1-9]$/.test(event.key) ? actions.choose(Number(event.key) - 1) : verb !== undefined) {
      event.preventDefault();
      verb?.();
    } else if (event.key === "Enter" && target.matches("input[type=radio]")) {
      event.preventDefault();
      actions.submit();
    }
  });
}
