// A weighted vote of two classes.

const policy = {
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
