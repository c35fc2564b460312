// The page as a whole: it holds the consultation, asks the service, and draws what follows.

import { Service, ServiceError } from "./api";
import { changes } from "./changes";
import {
  type Consultation,
  type Entry,
  carriedOver,
  hasContent,
  newConsultation,
  withAnswer,
  withGiven,
  withPanel,
  withoutAnswer,
  withoutGiven,
} from "./consultation";
import { $, fill, h } from "./dom";
import { download, exported } from "./export";
import { Language } from "./i18n";
import { keep, kept } from "./keeping";
import { listen } from "./keys";
import { type AskService, ModelReplaced, type Path, lastStep, panelAfter, replay } from "./replay";
import { type Settings, loadSettings, saveSettings } from "./settings";
import { Sheet } from "./sheet";
import { accountCard } from "./views/account";
import { beliefCard, strip } from "./views/belief";
import { confirmed, isModalOpen, openModal } from "./views/dialog";
import { drawHeader, drawPrintNote, loginForm, notice } from "./views/frame";
import { optionsDialog } from "./views/options_dialog";
import { panelDialog } from "./views/panel_dialog";
import { type QuestionCard, announcement, questionCard } from "./views/question";
import { recordCard } from "./views/record";
import { testsCard } from "./views/tests";
import { changed, editDialog, knownDialog, whatIfDialog } from "./views/value_dialogs";
import { type Actions, type View, asking } from "./views/view";

interface Options {
  /** Whether Undo returns to before it; not for Undo and Back themselves. */
  undoable?: boolean;
  /** Whether to say what changed. */
  explain?: boolean;
  push?: boolean;
  /** Whether what the service finds wrong is said at the field of the question. */
  atField?: boolean;
}

export class App {
  private readonly service = new Service();
  private settings = loadSettings();
  private lang = new Language(this.settings.language);
  private models: string[] = [];
  private sheet: Sheet | null = null;
  private made: Consultation | null = null;
  private path: Path | null = null;
  private earlier: Consultation[] = [];
  private card: QuestionCard | null = null;
  private drawn = "";
  private isBusy = false;
  private turn = 0;

  async start(): Promise<void> {
    this.applySettings();
    listen(() => this.settings.keys, {
      choose: (place) => this.card?.field?.choose(place) ?? false,
      submit: () => this.card?.submit(),
      missing: () => this.card?.missing(),
      refuse: () => this.card?.refuse(),
      undo: () => this.actions.undo(),
      decide: () => (this.made?.stopped ? this.actions.goOn() : this.actions.decide()),
      whatIf: () => {
        const view = this.view();
        const ask = view && asking(view);
        if (ask) this.actions.whatIf(ask.feature);
      },
      startNew: () => this.actions.startNew(),
    });
    window.addEventListener("popstate", () => void this.restore());
    window.addEventListener("beforeunload", (event) => {
      if (this.settings.keep === "none" && this.made && hasContent(this.made)) event.preventDefault();
    });
    await this.load();
  }

  // Models.

  private async load(): Promise<void> {
    try {
      this.models = (await this.service.models()).map((model) => model.name);
    } catch (error) {
      this.fail(error, () => void this.load());
      return;
    } finally {
      this.setBusy(false);
    }
    fill($("notices"));
    this.drawHeader();
    const stored = kept(this.settings.keep);
    if (stored && this.models.includes(stored.model)) await this.open(stored.model, stored);
    else if (this.models[0] !== undefined) {
      await this.open(this.models[0], null);
      if (stored && hasContent(stored)) this.tell(this.lang.t("restored_gone"));
    } else this.tell(this.lang.t("no_model"));
  }

  /** Show a model, with a stored consultation or a new one. */
  private async open(name: string, stored: Consultation | null): Promise<void> {
    const turn = ++this.turn;
    this.isBusy = false;
    // Nothing of the last model may stay, nor be answered while the next one is on its way.
    Object.assign(this, { sheet: null, made: null, path: null, earlier: [], card: null, drawn: "" });
    for (const id of ["strip", "question", "side", "belief-place"]) fill($(id));
    fill($("notices"));
    try {
      const about = await this.service.describe(name);
      if (turn !== this.turn) return;
      this.sheet = new Sheet(about);
      this.drawHeader();
      await this.begin(stored ?? newConsultation(name, about.version), stored !== null);
    } catch (error) {
      if (turn === this.turn) this.fail(error, () => void this.open(name, stored));
    }
  }

  private async begin(made: Consultation, isStored: boolean): Promise<void> {
    const { sheet, lang } = this;
    if (!sheet) return;
    const taken = carriedOver(made, sheet.about.version, (feature, value) => sheet.fits(feature, value));
    await this.attempt(taken.made, { undoable: false, push: false });
    if (!isStored || made.version === sheet.about.version) return;
    const titles = taken.dropped.map((feature) => sheet.title(feature)).join(", ");
    this.tell([lang.t("replaced_done"), titles && lang.t("replaced_dropped", { titles })].join(" "));
  }

  /** Take the browser's own Back and Forward as such. */
  private async restore(): Promise<void> {
    const made = kept(this.settings.keep);
    if (made === null || this.sheet === null) return;
    if (made.model === this.made?.model && made.version === this.sheet.about.version) await this.attempt(made, { undoable: false, push: false });
    else if (this.models.includes(made.model)) await this.open(made.model, made);
  }

  // Consultations.

  private view(): View | null {
    const { sheet, made, path, lang, settings, actions } = this;
    return sheet && made && path ? { sheet, made, path, lang, keys: settings.keys, actions } : null;
  }

  private ask(made: Consultation): AskService {
    return (request) => this.service.next(made.model, made.version, request);
  }

  /** Whether another file of the model is why a request failed, such as one that lacks a column. */
  private async isReplaced(error: unknown, made: Consultation): Promise<boolean> {
    if (error instanceof ModelReplaced) return true;
    if (!(error instanceof ServiceError) || ![404, 412, 422].includes(error.status)) return false;
    if (error.status === 412) return true;
    const about = await this.service.describe(made.model).catch(() => null);
    return about !== null && about.version !== made.version;
  }

  /** Ask the service what follows from a changed consultation, and adopt it if it is accepted. */
  private async attempt(next: Consultation, options: Options = {}): Promise<void> {
    if (this.isBusy) return;
    const { undoable = true, explain = false, push = true } = options;
    const turn = ++this.turn;
    const before = this.view();
    this.setBusy(true);
    try {
      const path = await replay(this.ask(next), next, before);
      if (turn !== this.turn) return;
      if (before && undoable) this.earlier.push(before.made);
      this.made = next;
      this.path = path;
      keep(next, this.settings.keep, push);
      fill($("notices"));
      this.draw();
      const view = this.view();
      if (view && before && explain) this.explain(changes(view, before.path, path));
      const unseen = lastStep(path).unseen.map((name) => view?.sheet.title(name)).join(", ");
      if (unseen !== "") this.tell(this.lang.t("unseen", { titles: unseen }));
    } catch (error) {
      const isReplaced = await this.isReplaced(error, next);
      if (turn !== this.turn) return;
      if (isReplaced) this.offerReplacement(next);
      else this.fail(error, () => void this.attempt(next, options), options.atField);
    } finally {
      if (turn === this.turn) this.setBusy(false);
    }
  }

  private readonly actions: Actions = {
    answer: (entry) => this.change((made) => withAnswer(made, entry), { atField: true }),
    edit: (feature) => {
      const view = this.view();
      if (view) editDialog(view, feature, (entry: Entry) => this.change(() => changed(view, feature, entry), { explain: true }));
    },
    remove: (feature) => this.change((made) => withoutGiven(withoutAnswer(made, feature), feature), { explain: true }),
    addKnown: () => {
      const view = this.view();
      if (view) knownDialog(view, (feature, value) => this.change((made) => withGiven(made, feature, value), { explain: true }));
    },
    whatIf: (feature) => {
      const view = this.view();
      if (view) whatIfDialog(view, feature, (made) => replay(this.ask(made), made, view));
    },
    orderPanel: () => {
      const view = this.view();
      if (view && asking(view)) {
        panelDialog(view, {
          look: (count) => panelAfter(this.ask(view.made), view.made, view.path, count),
          apply: (entries) => this.change((made) => withPanel(made, entries)),
        });
      }
    },
    decide: () => {
      const view = this.view();
      if (view && asking(view)) this.change((made) => ({ ...made, stopped: true }));
    },
    goOn: () => this.change((made) => ({ ...made, stopped: false })),
    undo: () => {
      const last = this.earlier.at(-1);
      if (!last || this.isBusy) return;
      this.earlier.pop();
      void this.attempt(last, { undoable: false });
    },
    setBudget: (budget) => this.change((made) => ({ ...made, budget }), { explain: true }),
    startNew: () => void this.startNew(),
    print: () => window.print(),
    save: () => {
      const view = this.view();
      if (view) download(`consultation-${view.made.model}.json`, exported(view, new Date()));
    },
  };

  private change(make: (made: Consultation) => Consultation, options: Options = {}): void {
    if (this.made) void this.attempt(make(this.made), options);
  }

  private async startNew(): Promise<void> {
    const { sheet, made } = this;
    if (!sheet || !made || !(await this.mayLose())) return;
    this.earlier = [];
    this.drawn = ""; // even if the same question comes first again: what was typed belongs to the last row
    await this.attempt(newConsultation(made.model, sheet.about.version), { undoable: false });
  }

  private async choose(name: string): Promise<void> {
    if (await this.mayLose()) await this.open(name, null);
    else this.drawHeader();
  }

  private async mayLose(): Promise<boolean> {
    if (!this.made || !hasContent(this.made)) return true;
    const n = this.made.given.length + this.made.answers.length;
    const { lang } = this;
    return confirmed(lang.t("lose_title"), lang.t("lose_text", { n }), lang.t("lose_yes"), lang.t("lose_no"));
  }

  /** The file of the model changed: no answer of it is shown as if it were the old one's. */
  private offerReplacement(next: Consultation): void {
    if (isModalOpen()) return;
    const { lang } = this;
    const modal = openModal(lang.t("replaced_title"), [
      h("p", {}, lang.t("replaced_text")),
      h("div", { class: "row end" }, h("button", { type: "button", id: "take-over", class: "main", on: { click: () => (modal.close(), void this.open(next.model, next)) } }, lang.t("replaced_yes"))),
    ]);
  }

  // Drawing.

  private draw(): void {
    const view = this.view();
    if (!view) return;
    const ask = asking(view);
    // The field is made anew for each question, so that no text is left from another; while the question stays, so
    // does what is typed.
    const same = JSON.stringify([view.made.model, view.made.version, ask, view.path.steps.length, view.lang.code, view.keys]);
    if (same !== this.drawn || ask === null) {
      this.card = questionCard(view);
      fill($("question"), this.card.element);
      this.drawn = same;
      this.focusCard();
    }
    const undo = document.getElementById("undo");
    if (undo instanceof HTMLButtonElement) undo.disabled = this.earlier.length === 0;
    const tests = document.getElementById("tests-card");
    fill($("strip"), strip(view));
    fill($("belief-place"), beliefCard(view));
    fill($("side"), recordCard(view), accountCard(view), testsCard(view, tests instanceof HTMLDetailsElement && tests.open), this.about(view));
    drawPrintNote(view);
    $("status").textContent = announcement(view);
  }

  /** An empty text field, or the question itself: never something that one more Enter would send. */
  private focusCard(): void {
    if (isModalOpen()) return;
    const isTyped = this.card?.field?.isText && window.matchMedia("(pointer: fine)").matches;
    if (isTyped) this.card?.field?.focus();
    else document.getElementById("question-title")?.focus({ preventScroll: true });
    document.getElementById("question-title")?.scrollIntoView({ block: "nearest" });
  }

  private drawHeader(): void {
    drawHeader(this.lang, this.models, this.sheet?.about ?? null, {
      choose: (name) => void this.choose(name),
      startNew: () => void this.startNew(),
      options: () =>
        optionsDialog(this.lang, this.settings, {
          change: (settings) => this.setSettings(settings),
          print: this.actions.print,
          save: this.actions.save,
        }),
    });
  }

  private about(view: View): HTMLElement {
    const { lang, sheet } = view;
    const { method, version, n_features: n, frontier, fault, unit } = sheet.about;
    const point = typeof frontier?.spend === "number" && typeof frontier.score === "number" ? lang.t("about_point", { spend: lang.money(frontier.spend, unit, sheet.decimals), score: lang.number(Number(frontier.score.toPrecision(3))) }) : "";
    return h(
      "details",
      { id: "about", class: "card" },
      h("summary", {}, lang.t("about")),
      h("p", { class: "note" }, [lang.t("about_text", { method, version, n: lang.number(n) }), point, fault ? lang.t("about_fault", { fault }) : ""].join(" ")),
    );
  }

  private explain(said: string[]): void {
    const { lang } = this;
    const made = notice(lang, lang.t("changed"), said, () => fill($("notices")), { text: lang.t("undo"), act: () => this.actions.undo() });
    fill($("notices"), made);
    made.querySelector("h2")?.focus();
  }

  private tell(text: string): void {
    $("notices").append(notice(this.lang, "", [text], () => fill($("notices")), null));
  }

  private fail(error: unknown, again: () => void, atField = false): void {
    const { lang } = this;
    const status = error instanceof ServiceError ? error.status : -1;
    if (status === 401) {
      fill(
        $("notices"),
        loginForm(lang, (token) => {
          this.service.setToken(token);
          again();
        }),
      );
      return;
    }
    const message = error instanceof Error ? error.message : String(error);
    // What is wrong with a value is said at its field.
    if (status === 422 && atField && this.card?.field) this.card.field.fail(message);
    else fill($("notices"), notice(lang, "", [status === 0 ? lang.t("unreachable") : message], () => fill($("notices")), { text: lang.t("retry"), act: again }, "alert"));
  }

  private setBusy(isBusy: boolean): void {
    this.isBusy = isBusy;
    $("main").setAttribute("aria-busy", String(isBusy));
  }

  // Settings.

  private setSettings(settings: Settings): void {
    this.settings = settings;
    saveSettings(settings);
    this.applySettings();
    if (this.made) keep(this.made, settings.keep, false);
    this.drawHeader();
    this.draw();
  }

  private applySettings(): void {
    const { language, theme } = this.settings;
    this.lang = new Language(language);
    document.documentElement.lang = language;
    document.documentElement.dataset["theme"] = theme;
    document.title = `Farthing: ${this.lang.t("page_title")}`;
    $("skip").textContent = this.lang.t("skip");
    this.drawHeader();
  }
}
