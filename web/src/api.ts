// Calls to the service that the page comes from, under whatever path it is mounted.

import type { ModelInfo, ModelSummary, Step, StepRequest } from "./types";

export class ServiceError extends Error {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
  }
}

const TOKEN = "farthing-token";

/** The address of the service for the page's own: the folder of the page, with or without a final slash. */
export function baseOf(pathname: string): string {
  return pathname.endsWith("/") ? pathname : `${pathname}/`;
}

export class Service {
  private readonly base = baseOf(location.pathname);

  setToken(token: string): void {
    sessionStorage.setItem(TOKEN, token);
  }

  async models(): Promise<ModelSummary[]> {
    return (await this.call<{ models: ModelSummary[] }>("v1/models")).models;
  }

  describe(name: string): Promise<ModelInfo> {
    return this.call(`v1/models/${encodeURIComponent(name)}`);
  }

  /** One step of a walk, of this version of the model only. */
  next(name: string, version: string, request: StepRequest): Promise<Step> {
    const path = `v1/models/${encodeURIComponent(name)}/next`;
    return this.call<Step>(path, { ...request, reasons: true }, { "If-Match": `"${version}"` });
  }

  private async call<T>(path: string, body?: unknown, headers: Record<string, string> = {}): Promise<T> {
    const token = sessionStorage.getItem(TOKEN);
    if (token) headers["Authorization"] = `Bearer ${token}`;
    const init: RequestInit = { headers };
    if (body !== undefined) {
      headers["Content-Type"] = "application/json";
      Object.assign(init, { method: "POST", body: JSON.stringify(body) });
    }
    let response: Response;
    try {
      response = await fetch(this.base + path, init);
    } catch {
      throw new ServiceError("", 0);
    }
    const answer = await response.json().catch(() => ({ detail: response.statusText }));
    if (response.ok) return answer as T;
    throw new ServiceError(messageOf(answer.detail), response.status);
  }
}

function messageOf(detail: unknown): string {
  if (!Array.isArray(detail)) return String(detail);
  return detail.map((item: { msg?: unknown }) => String(item.msg)).join("; ");
}
