// Whether the answer to a question is a list of numbers: a message, or the probabilities of another model.
const isList = (item) => (N.PLAN_HANDOVER ? item === N.HANDOVER : N.FARTHING_ANSWER > 0);

// An answer as a number: the code of a category, NaN for one that no training row had and for a missing value.
function encode(item, value) {
  const { name, categories } = MODEL.features[item];
  if (isList(item)) {
    const numbers = Array.from(Array.isArray(value) || ArrayBuffer.isView(value) ? value : []);
    if (numbers.length !== N.FARTHING_ANSWER || !numbers.every(Number.isFinite))
      throw new TypeError(`${name} takes a list of ${N.FARTHING_ANSWER} finite numbers; got ${String(value)}`);
    return numbers;
  }
  if (value === null || value === undefined) return NaN;
  if (categories.length) {
    const code = categories.findIndex((category) => category === value);
    return code < 0 ? NaN : code;
  }
  if (typeof value === "boolean") return Number(value);
  if (typeof value !== "number" || value === Infinity || value === -Infinity)
    throw new TypeError(`${name} takes a finite number, or null if it is missing; got ${String(value)}`);
  return value;
}

export class Walk {
  #state;
  #asked = -2;

  constructor({ budget = MODEL.budget, known = {}, seed = MODEL.seed } = {}) {
    if (budget !== null && !(budget >= 0)) throw new RangeError(`budget must be zero or more, or null; got ${budget}`);
    const s = (this.#state = new State(budget === null ? Infinity : budget));
    policy.start(s, seed);
    for (const [name, value] of Object.entries(known)) {
      const item = MODEL.features.findIndex((feature) => feature.name === name);
      if (item < 0) continue;
      if (isList(item)) throw new TypeError(`${name} cannot be known before it is asked for`);
      s.flags[item] |= OWNED | KNOWN | ANSWERED;
      s.value[item] = encode(item, value);
      if (N.FARTHING_GROUPS && T.GROUP_OF[item] >= 0) s.groups[T.GROUP_OF[item]] |= PAID;
    }
    this.#advance();
  }

  get ask() {
    if (this.#asked < 0) return null;
    const s = this.#state, item = this.#asked, group = N.FARTHING_GROUPS ? T.GROUP_OF[item] : -1;
    const shared = group >= 0 && !(s.groups[group] & PAID) ? T.SHARED[group] : null;
    return { feature: MODEL.features[item].name, price: shared === null ? T.OWN[item] : T.OWN[item] + shared };
  }

  tell(value) {
    const item = this.#wanted("tell"), encoded = encode(item, value), s = this.#state;
    s.buy(item);
    s.flags[item] |= LOOKED | ANSWERED;
    if (isList(item)) s.answer = encoded;
    else s.value[item] = encoded;
    this.#passOn(item);
    this.#advance();
  }

  refuse() {
    const item = this.#wanted("refuse"), s = this.#state;
    s.flags[item] |= REFUSED | ANSWERED;
    s.value[item] = NaN;
    this.#passOn(item);
    this.#advance();
  }

  get spent() {
    return this.#state.spent;
  }

  get decision() {
    const s = this.#state, looked = s.flags.some((flags) => flags & LOOKED);
    const settled = !looked && N.PROGRAM_SETTLES === 1;
    const called = N.PLAN_HANDOVER && s.stage === CALLED;
    const out = settled || called ? [] : Array.from(policy.output(s, this.#asked < 0));
    const results = settled ? T.UNSEEN : called ? s.answer : applyLink(MODEL.link, out);
    const acquired = MODEL.items.filter((_, item) => s.flags[item] & BOUGHT);
    if (MODEL.classes === null) return { prediction: results[0], probabilities: null, spent: s.spent, acquired };
    const label = settled ? N.UNSEEN_LABEL : labelOf(out, results);
    const probabilities = MODEL.classes.map((each, i) => ({ label: each, probability: results[i] }));
    return { prediction: MODEL.classes[label], probabilities, spent: s.spent, acquired };
  }

  #wanted(verb) {
    if (this.#asked < 0) throw new Error(`${verb} was called, but the walk has ended and asks for nothing`);
    return this.#asked;
  }

  #passOn(item) {
    const s = this.#state;
    if (N.PLAN_HANDOVER && s.stage) handoverHear(s, item);
    else if (s.flags[item] & REFUSED) policy.refuse(s, item);
    else policy.hear(s, item);
  }

  #next() {
    const item = policy.wants(this.#state);
    return item < 0 && N.PLAN_HANDOVER ? handoverWants(this.#state) : item;
  }

  #advance() {
    const s = this.#state;
    let item;
    while ((item = this.#next()) >= 0) {
      if (!(s.flags[item] & ANSWERED)) {
        if (s.affords(item)) {
          if (item < N.FARTHING_FEATURES) break;
          s.buy(item);
          s.flags[item] |= LOOKED;
          s.value[item] = 1;
        } else {
          s.value[item] = NaN;
        }
        s.flags[item] |= ANSWERED;
      } else if (s.flags[item] & KNOWN) {
        s.flags[item] |= LOOKED;
      }
      this.#passOn(item);
    }
    this.#asked = item;
  }
}

function labelOf(out, results) {
  if (N.PROGRAM_LABEL_CUT) return out[0] >= N.LABEL_CUT ? N.LABEL_ABOVE : N.LABEL_BELOW;
  if (MODEL.priced) return leastCost(results, T.ERROR_COSTS)[1];
  let label = 0;
  for (let i = 1; i < results.length; ++i) if (results[i] > results[label]) label = i;
  return label;
}

export const features = MODEL.features;
export const classes = MODEL.classes;
export const unit = MODEL.unit;
