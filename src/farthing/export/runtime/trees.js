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
