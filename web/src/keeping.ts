// Where a consultation is kept, so that reload and Back do not lose it: in the tab, in the address, or nowhere.

import { type Consultation, parseConsultation } from "./consultation";
import type { Keep } from "./settings";

const NAME = "farthing-consultation";
const MARK = "#c=";

export function encodeAddress(made: Consultation): string {
  const bytes = new TextEncoder().encode(JSON.stringify(made));
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return MARK + btoa(text).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

export function decodeAddress(hash: string): Consultation | null {
  if (!hash.startsWith(MARK)) return null;
  try {
    const text = atob(hash.slice(MARK.length).replace(/-/g, "+").replace(/_/g, "/"));
    const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
    return parseConsultation(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)));
  } catch {
    return null;
  }
}

/** Store a consultation; `push` makes an entry that Back returns from. */
export function keep(made: Consultation, where: Keep, push: boolean): void {
  const plain = location.pathname + location.search;
  const url = where === "address" ? plain + encodeAddress(made) : plain;
  const state = where === "none" ? null : made;
  // An entry for each step would be left behind by a choice to keep nothing.
  if (push && where !== "none") history.pushState(state, "", url);
  else history.replaceState(state, "", url);
  if (where === "tab") sessionStorage.setItem(NAME, JSON.stringify(made));
  else sessionStorage.removeItem(NAME);
}

/** What the address, the entry of the browser's history or the tab holds. */
export function kept(where: Keep): Consultation | null {
  const shared = decodeAddress(location.hash);
  if (shared !== null) return shared;
  if (where === "none") return null;
  const state = parseConsultation(history.state);
  if (state !== null) return state;
  try {
    return parseConsultation(JSON.parse(sessionStorage.getItem(NAME) ?? "null"));
  } catch {
    return null;
  }
}
