// Stations: columns to ask for, scores to evaluate, and where the row goes then.

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

const policy = {
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
