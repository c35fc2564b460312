// Trees in order, in blocks.

const policy = {
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
