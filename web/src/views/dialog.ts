// Modal dialogues, by the browser's own <dialog>: it keeps the focus inside and gives it back.

import { h, newId } from "../dom";

export interface Modal {
  element: HTMLDialogElement;
  titleId: string;
  close(): void;
}

/** Show a dialogue; it is removed when it closes, by a button or by Escape. */
export function openModal(title: string, body: (Node | string | null | false)[], closed: () => void = () => undefined, kind = ""): Modal {
  const titleId = newId("dialog");
  const element = h("dialog", { class: `modal ${kind}`, "aria-labelledby": titleId }, h("h2", { id: titleId }, title), ...body);
  document.body.append(element);
  element.addEventListener("close", () => {
    element.remove();
    closed();
  });
  element.showModal();
  return { element, titleId, close: () => element.close() };
}

export const isModalOpen = (): boolean => document.querySelector("dialog[open]") !== null;

/** Ask a question that loses something; the safe answer has the focus, so that Enter keeps everything. */
export function confirmed(title: string, text: string, yes: string, no: string): Promise<boolean> {
  return new Promise((resolve) => {
    let answer = false;
    const modal = openModal(
      title,
      [
        h("p", {}, text),
        h(
          "div",
          { class: "row end" },
          h("button", { type: "button", autofocus: true, class: "main", on: { click: () => modal.close() } }, no),
          h("button", { type: "button", class: "danger", on: { click: () => ((answer = true), modal.close()) } }, yes),
        ),
      ],
      () => resolve(answer),
    );
  });
}
