// Elements without markup in strings: text from a model can never become markup.

type Child = Node | string | null | false | undefined;
type Handlers = { [name in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[name]) => void };
type Attributes = Record<string, string | number | boolean | null | undefined | Handlers>;

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "object") {
      for (const [event, handler] of Object.entries(value)) made.addEventListener(event, handler as EventListener);
    } else {
      made.setAttribute(name, value === true ? "" : String(value));
    }
  }
  made.append(...present(children));
  return made;
}

export function svg(tag: string, attributes: Record<string, string | number> = {}, ...children: Child[]): SVGElement {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...present(children));
  return made;
}

export function $(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found;
}

/** Replace what an element holds. */
export function fill(place: HTMLElement, ...children: Child[]): void {
  place.replaceChildren(...present(children));
}

const present = (children: Child[]): (Node | string)[] =>
  children.filter((child): child is Node | string => child !== null && child !== false && child !== undefined);

let count = 0;
/** A new id for an element. */
export const newId = (name: string): string => `${name}-${++count}`;
