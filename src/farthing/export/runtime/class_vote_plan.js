// A weighted vote of several classes.

const policy = {
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
