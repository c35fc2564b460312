// The walk of a model: one feature at a time, with the account of what it spends. `MODEL` holds the tables.

const OWNED = 1, BOUGHT = 2, ANSWERED = 4, HEARD = 8, REFUSED = 16, LOOKED = 32, KNOWN = 64, MARKED = 128;
const PAID = 1, PAID_HERE = 2, DUE = 4;
const T = MODEL.tables, N = MODEL.numbers;
const single = Math.fround;

// What a row owns, has paid and has been told; a policy adds fields of its own.
class State {
  constructor(budget) {
    this.value = new Float64Array(N.FARTHING_ITEMS);
    this.flags = new Uint8Array(N.FARTHING_ITEMS);
    this.groups = new Uint8Array(N.FARTHING_GROUPS);
    this.outputs = new Float64Array(N.FARTHING_OUTPUTS);
    this.limit = budget * (1 + 1e-12);
    this.spent = 0;
  }

  mark(item) {
    if (this.flags[item] & OWNED) return;
    this.flags[item] |= MARKED;
    const group = N.FARTHING_GROUPS ? T.GROUP_OF[item] : -1;
    if (group >= 0 && !(this.groups[group] & PAID)) this.groups[group] |= DUE;
  }

  // The spend with all marked items, added in the order of the cost sheet; the marks are taken away.
  spentWithMarked() {
    let sum = 0;
    for (let i = 0; i < N.FARTHING_ITEMS; ++i) {
      if (this.flags[i] & (BOUGHT | MARKED)) sum += T.OWN[i];
      this.flags[i] &= ~MARKED;
    }
    for (let i = 0; i < N.FARTHING_GROUPS; ++i) {
      if (this.groups[i] & (PAID_HERE | DUE)) sum += T.SHARED[i];
      this.groups[i] &= ~DUE;
    }
    return sum;
  }

  affords(...items) {
    for (const item of items) this.mark(item);
    return this.spentWithMarked() <= this.limit;
  }

  buy(item) {
    if (this.flags[item] & OWNED) return;
    this.flags[item] |= OWNED | BOUGHT;
    const group = N.FARTHING_GROUPS ? T.GROUP_OF[item] : -1;
    if (group >= 0 && !(this.groups[group] & PAID)) this.groups[group] |= PAID | PAID_HERE;
    this.spent = this.spentWithMarked();
  }

  heardValue(item) {
    return this.flags[item] & HEARD ? this.value[item] : NaN;
  }
}

// Trees.

const isLeaf = (node) => T.FEATURE[node] === N.LEAF;

// The node that a value leads to, or the same node if the row stays there.
function step(s, node) {
  const item = T.FEATURE[node], x = s.heardValue(item);
  if (x === x) {
    const bytes = N.TREE_SETS ? T.SET_BYTES[item] : 0;
    if (!bytes) {
      const value = N.TREE_SINGLE ? single(x) : x, threshold = T.THRESHOLD[T.TEST[node]];
      return (N.TREE_STRICT ? value < threshold : value <= threshold) ? node + 1 : node + T.SKIP[node];
    }
    if (x >= 0 && x < 8 * bytes) {
      const code = Math.trunc(x), at = T.TEST[node] + (code >> 3);
      if ((T.SETS[at] >> (code & 7)) & 1) return node + 1;
      if ((T.SETS[at + bytes] >> (code & 7)) & 1) return node + T.SKIP[node];
    }
  }
  const way = s.flags[item] & REFUSED ? T.WAYS[node] >> 2 : T.WAYS[node] & 3;
  return way === 0 ? node + 1 : way === 1 ? node + T.SKIP[node] : node;
}

const scoreRow = (node) => (N.TREE_POOLED ? T.SCORE[node] : node);

function addScores(out, tree, node) {
  const first = N.TREE_TARGETS ? T.TARGET[tree] : 0, row = scoreRow(node) * N.TREE_WIDTH;
  for (let i = 0; i < N.TREE_WIDTH; ++i) {
    out[first + i] += T.SCORES[row + i];
    if (N.TREE_SINGLE_SUMS) out[first + i] = single(out[first + i]);
  }
}

// Links.

function normalise(v) {
  const counts = v.every((x) => x === 0) ? v.map(() => 1) : v;
  let sum = 0;
  for (const count of counts) sum += count;
  return counts.map((count) => count / sum);
}

function exponentials(v) {
  const most = Math.max(...v);
  return normalise(v.map((x) => Math.exp(x - most)));
}

const STEPS = {
  first: (v) => v.slice(0, 1),
  take: (v, step) => v.slice(0, step.number),
  divide: (v, step) => v.map((x) => x / step.number),
  times: (v, step) => v.map((x) => x * step.number),
  sigmoid: (v) => [1 / (1 + Math.exp(v[0])), 1 / (1 + Math.exp(-v[0]))],
  second: (v) => [v[1]],
  softmax: exponentials,
  normalise,
  exponential: (v) => v.map(Math.exp),
  one: () => [1],
  temper: (v, step) => exponentials(v.map((x) => Math.log(Math.max(x, 1e-12)) / step.number)),
  mean_grade: (v, step) => {
    let sum = 0;
    v.forEach((x, i) => { sum += x * step.grades[i]; });
    return [sum];
  },
  single_exponential: (v) => v.map((x) => single(Math.exp(x))),
  single_sigmoid: (v) => {
    const raised = single(Math.exp(Math.min(-v[0], single(88.7)))), second = single(1 / single(raised + 1));
    return [single(1 - second), second];
  },
  single_softmax: (v) => {
    const most = Math.max(...v), raised = v.map((x) => single(Math.exp(single(x - most))));
    let sum = 0;
    for (const x of raised) sum += x;
    return raised.map((x) => single(x / single(sum)));
  },
};

const applyLink = (link, outputs) => link.reduce((v, step) => STEPS[step.name](v, step), Array.from(outputs));

// The least expected cost of a label, and the label.
function leastCost(v, costs) {
  let least = 0, label = 0;
  for (let j = 0; j < v.length; ++j) {
    let sum = 0;
    for (let i = 0; i < v.length; ++i) sum += v[i] * costs[i * v.length + j];
    if (j === 0 || sum < least) [least, label] = [sum, j];
  }
  return [least, label];
}

function endsHere(out, at) {
  if (N.EXIT_INTERVAL) return out[0] <= T.EXIT_LOW[at] || out[0] >= T.EXIT_HIGH[at];
  if (N.EXIT_GATE) return out[N.FARTHING_OUTPUTS - 1] <= T.EXIT_THRESHOLD[at];
  const { link, certainty, priced, scale } = MODEL.exitRisk, v = applyLink(link, out);
  if (certainty) return (priced ? 1 - leastCost(v, T.ERROR_COSTS)[0] / scale : Math.max(...v)) > T.EXIT_THRESHOLD[at];
  return (priced ? leastCost(v, T.ERROR_COSTS)[0] : 1 - Math.max(...v)) <= T.EXIT_THRESHOLD[at];
}

// Policies: what is wanted next (-1: nothing), what an answer changes, the raw output so far.

const treePolicy = {
  start(s) {
    Object.assign(s, { tree: 0, node: 0, block: 0, heard: -1, call: N.PLAN_CALLS ? T.CALLS[0] : -1, looked: false, stopped: false });
  },
  wants(s) {
    if (s.heard >= 0 && s.flags[s.heard] & OWNED) s.looked = true;
    for (;;) {
      if (s.stopped) return -1;
      if (s.looked && s.call >= 0) return s.call;
      while (s.tree < T.ENDS[s.block]) {
        if (!isLeaf(s.node)) {
          const item = T.FEATURE[s.node];
          if (!(s.flags[item] & HEARD)) {
            if (s.call < 0 || s.affords(item, s.call)) return item;
            s.value[item] = NaN;
            s.flags[item] |= HEARD;
            continue;
          }
          const next = step(s, s.node);
          if (next !== s.node) {
            s.node = next;
            continue;
          }
        }
        addScores(s.outputs, s.tree, s.node);
        s.tree += 1;
        s.node = T.ROOTS[s.tree];
      }
      if (s.block === N.PLAN_BLOCKS - 1 || endsHere(s.outputs, 0)) return -1;
      s.block += 1;
      if (N.PLAN_CALLS) s.call = T.CALLS[s.block];
    }
  },
  hear(s, item) {
    if (item === s.call) {
      s.call = -1;
      s.stopped = Number.isNaN(s.value[item]);
      return;
    }
    s.heard = item;
    s.flags[item] |= HEARD;
  },
  refuse(s, item) {
    s.flags[item] |= HEARD;
  },
  output(s) {
    const out = s.outputs.slice();
    if (!s.stopped) for (let t = s.tree; t < T.ENDS[s.block]; ++t) addScores(out, t, t === s.tree ? s.node : T.ROOTS[t]);
    return out;
  },
};

// The scores of a station, with all that was heard.
function evaluate(s, station) {
  const n = N.FARTHING_OUTPUTS, out = new Float64Array(n);
  if (N.PLAN_TREES) {
    for (let tree = T.TREES_BEGIN[station]; tree < T.TREES_END[station]; ++tree) {
      let node = T.ROOTS[tree];
      while (!isLeaf(node)) {
        const next = step(s, node);
        if (next === node) break;
        node = next;
      }
      addScores(out, tree, node);
    }
    if (N.PLAN_INTERCEPTS) for (let j = 0; j < n; ++j) out[j] += T.INTERCEPT[station * n + j];
    return out;
  }
  for (let j = 0; j < n; ++j) out[j] = T.INTERCEPT[station * n + j];
  for (let i = T.TERMS_BEGIN[station]; i < T.TERMS_BEGIN[station + 1]; ++i) {
    const x = s.heardValue(T.TERM_ITEM[i]), category = T.TERM_CATEGORY[i];
    const shown = category === category ? Number(x === category) : x;
    const term = Number.isFinite(x) ? (shown - T.TERM_MEAN[i]) / T.TERM_SCALE[i] : 0;
    for (let j = 0; j < n; ++j) out[j] += term * T.TERM_COEF[i * n + j];
  }
  return out;
}

function readOut(station, out) {
  for (let i = 0; N.PLAN_READOUT && i < N.PLAN_SCALED; ++i) {
    let x = out[i];
    if (N.PLAN_RANKS) x = station + (1 + x / (1 + Math.abs(x))) / 2;
    x = x / T.DIVISOR[station];
    if (N.PLAN_AFFINE) x = Math.min(T.SLOPE[station] * x + T.OFFSET[station], T.MOST[station]);
    out[i] = x;
  }
  return out;
}

function nextStation(station, scores) {
  if (!N.PLAN_DIRECTED) return T.CHILDREN[2 * station + 1];
  let sum = 0;
  for (let i = 0; i < scores.length; ++i) sum += scores[i] * T.DIRECTION[station * scores.length + i];
  return T.CHILDREN[2 * station + Number(sum > T.CUT[station])];
}

const columnsOf = (station) => T.COLUMNS.slice(T.COLUMNS_BEGIN[station], T.COLUMNS_BEGIN[station + 1]);

const stationPolicy = {
  start(s) {
    Object.assign(s, { heard: -1, looked: false, done: false, node: N.ROUTES, station: -1 });
    if (!N.PLAN_PARTIAL) s.outputs.set(T.START);
    if (!N.PLAN_ROUTES) this.enter(s, 0);
  },
  enter(s, station) {
    s.station = station;
    s.at = T.COLUMNS_BEGIN[station];
    s.call = N.PLAN_CALLS ? T.CALLS[station] : -1;
  },
  finish(s) {
    const scores = evaluate(s, s.station);
    let next = nextStation(s.station, scores);
    s.outputs.set(readOut(s.station, scores));
    if (next >= 0 && N.PLAN_WHOLE && !s.affords(...columnsOf(next))) next = -1;
    if (next >= 0 && N.PLAN_EXITS && endsHere(s.outputs, s.station)) next = -1;
    if (next < 0) s.done = true;
    else this.enter(s, next);
  },
  wants(s) {
    if (s.heard >= 0 && s.flags[s.heard] & OWNED) s.looked = true;
    if (s.station < 0) {
      while (!isLeaf(s.node)) {
        const item = T.FEATURE[s.node];
        if (!(s.flags[item] & HEARD)) return item;
        const next = step(s, s.node);
        if (next === s.node) break;
        s.node = next;
      }
      this.enter(s, T.ROUTE_SCORES[scoreRow(s.node) * (N.FARTHING_OUTPUTS + 1)]);
    }
    while (!s.done) {
      while (s.at < T.COLUMNS_BEGIN[s.station + 1]) {
        const item = T.COLUMNS[s.at];
        if (s.flags[item] & HEARD) {
          s.at += 1;
        } else if (s.call < 0 || s.affords(item, s.call)) {
          return item;
        } else {
          s.value[item] = NaN;
          s.flags[item] |= HEARD;
          s.heard = item;
        }
      }
      if (s.call >= 0) {
        if (s.looked) return s.call;
        s.done = true;
      } else if (N.PLAN_PARTIAL) {
        s.done = true;
      } else {
        this.finish(s);
      }
    }
    return -1;
  },
  hear(s, item) {
    if (item === s.call) {
      s.call = -1;
      s.done = Number.isNaN(s.value[item]);
      return;
    }
    s.heard = item;
    s.flags[item] |= HEARD;
  },
  refuse(s, item) {
    this.hear(s, item);
  },
  output(s) {
    if (!N.PLAN_PARTIAL) return s.outputs;
    if (s.station >= 0) return readOut(s.station, evaluate(s, s.station));
    const first = scoreRow(s.node) * (N.FARTHING_OUTPUTS + 1) + 1;
    return T.ROUTE_SCORES.slice(first, first + N.FARTHING_OUTPUTS);
  },
};

// What votes of two and of more classes share: trees wait for columns, in a fixed order.
const FINISHED = -1;

function firstPlace(s) {
  let place = -1;
  for (const node of s.nodes) {
    const own = node === FINISHED ? -1 : T.POSITION[T.FEATURE[node]];
    if (own >= 0 && (place < 0 || own < place)) place = own;
  }
  return place;
}

function advance(policy, s, tree) {
  let node = s.nodes[tree];
  while (!isLeaf(node)) {
    if (!(s.flags[T.FEATURE[node]] & HEARD)) {
      s.nodes[tree] = node;
      policy.addBounds(s, tree, node, 1);
      return;
    }
    const next = step(s, node);
    if (next === node) break;
    node = next;
  }
  s.nodes[tree] = FINISHED;
  policy.addVotes(s, node);
}

function hearVotes(policy, s, item) {
  s.flags[item] |= HEARD;
  policy.dropShared(s, T.POSITION[item]);
  for (let tree = 0; tree < N.TREES; ++tree) {
    const node = s.nodes[tree];
    if (node === FINISHED || T.FEATURE[node] !== item) continue;
    if (!T.STUMP[tree]) policy.addBounds(s, tree, node, -1);
    advance(policy, s, tree);
  }
}

const votePolicy = {
  start(s) {
    Object.assign(s, { low: N.START_LOW, high: N.START_HIGH, nodes: Array.from(T.ROOTS.slice(0, N.TREES)) });
    s.nodes.forEach((node, tree) => {
      if (!isLeaf(node)) return;
      s.outputs[0] += T.SCORES[scoreRow(node)];
      s.nodes[tree] = FINISHED;
    });
  },
  wants(s) {
    if (s.low > 0 || s.high <= 0) return -1;
    const place = firstPlace(s);
    if (place < 0) return -1;
    if (N.PLAN_STOPS && (s.outputs[0] <= T.STOP_LOW[place] || s.outputs[0] > T.STOP_HIGH[place])) return -1;
    return T.ORDER[place];
  },
  addBounds(s, tree, node, sign) {
    s.low += sign * T.BOUNDS[2 * node];
    s.high += sign * T.BOUNDS[2 * node + 1];
  },
  addVotes(s, node) {
    const score = T.SCORES[scoreRow(node)];
    s.outputs[0] += score;
    s.low += score;
    s.high += score;
  },
  dropShared(s, place) {
    s.low -= T.SHARED_LOW[place];
    s.high -= T.SHARED_HIGH[place];
  },
  hear(s, item) {
    hearVotes(this, s, item);
  },
  refuse(s, item) {
    hearVotes(this, s, item);
  },
  output: (s) => s.outputs,
};

const classVotePolicy = {
  start(s) {
    s.lead = Float64Array.from(T.START_LEAD);
    s.outputs.set(T.START_SUM);
    s.nodes = Array.from(T.ROOTS.slice(0, N.TREES), (node) => (isLeaf(node) ? FINISHED : node));
  },
  isDecided(s) {
    const k = N.FARTHING_OUTPUTS;
    let first = 0;
    for (let i = 1; i < k; ++i) if (s.outputs[i] > s.outputs[first]) first = i;
    for (let i = 0; i < k; ++i) {
      const lead = s.lead[first * k + i];
      if ((i < first && !(lead > 0)) || (i > first && !(lead >= 0))) return false;
    }
    return true;
  },
  wants(s) {
    const place = firstPlace(s);
    return place < 0 || this.isDecided(s) ? -1 : T.ORDER[place];
  },
  addBounds(s, tree, node, sign) {
    const k = N.FARTHING_OUTPUTS, weight = sign * T.WEIGHTS[tree];
    for (let i = 0; i < k * k; ++i) s.lead[i] += weight * T.NODE_LEAD[node * k * k + i];
    for (let i = 0; i < k; ++i) s.outputs[i] += weight * T.NODE_SUM[node * k + i];
  },
  addVotes(s, node) {
    const k = N.FARTHING_OUTPUTS, row = scoreRow(node) * k;
    for (let i = 0; i < k; ++i) {
      for (let j = 0; j < k; ++j) s.lead[i * k + j] += T.SCORES[row + i] - T.SCORES[row + j];
      s.outputs[i] += 2 * T.SCORES[row + i];
    }
  },
  dropShared(s, place) {
    const k = N.FARTHING_OUTPUTS;
    for (let i = 0; i < k * k; ++i) s.lead[i] -= T.SHARED_LEAD[place * k * k + i];
    for (let i = 0; i < k; ++i) s.outputs[i] -= T.SHARED_SUM[place * k + i];
  },
  hear(s, item) {
    hearVotes(this, s, item);
  },
  refuse(s, item) {
    hearVotes(this, s, item);
  },
  output: (s) => s.outputs.map((sum) => sum / 2),
};

const policy = { tree: treePolicy, station: stationPolicy, vote: votePolicy, class_vote: classVotePolicy }[MODEL.kind];

// An answer as a number: the code of a category, NaN for one that no training row had and for a missing value.
function encode(item, value) {
  if (value === null || value === undefined) return NaN;
  const { name, categories } = MODEL.features[item];
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

  constructor({ budget = MODEL.budget, known = {} } = {}) {
    if (budget !== null && !(budget >= 0)) throw new RangeError(`budget must be zero or more, or null; got ${budget}`);
    const s = (this.#state = new State(budget === null ? Infinity : budget));
    policy.start(s);
    for (const [name, value] of Object.entries(known)) {
      const item = MODEL.features.findIndex((feature) => feature.name === name);
      if (item < 0) continue;
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
    s.value[item] = encoded;
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
    const out = settled ? [] : Array.from(policy.output(s));
    const results = settled ? T.UNSEEN : applyLink(MODEL.link, out);
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
    if (s.flags[item] & REFUSED) policy.refuse(s, item);
    else policy.hear(s, item);
  }

  #advance() {
    const s = this.#state;
    let item;
    while ((item = policy.wants(s)) >= 0) {
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
