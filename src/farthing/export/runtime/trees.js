// Trees.

const isLeaf = (node) => T.FEATURE[node] === N.LEAF;

// Where a value that is refused, or missing, goes: 0 left, 1 right, 2 nowhere.
function wayOf(node, refused) {
  if (N.TREE_SAME_WAYS) return (T.WAYS[node >> 3] >> (node & 7)) & 1;
  if (N.TREE_ONE_MISSING) return refused ? (T.WAYS[node >> 3] >> (node & 7)) & 1 : N.MISSING_WAY;
  const ways = T.WAYS[node >> 1] >> (4 * (node & 1));
  return (refused ? ways >> 2 : ways) & 3;
}

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
  const way = wayOf(node, s.flags[item] & REFUSED);
  return way === 0 ? node + 1 : way === 1 ? node + T.SKIP[node] : node;
}

const scoreRow = (node) => (N.TREE_POOLED ? T.SCORE[node] : node);

// The scores of a node, which are given or, of an inner node, the mean of its children's, weighted by training rows.
function nodeScores(node) {
  const width = N.TREE_WIDTH;
  if (!N.TREE_MEANS) return T.SCORES.slice(scoreRow(node) * width, (scoreRow(node) + 1) * width);
  return means(node).scores;
}

function means(node) {
  if (isLeaf(node)) {
    const row = T.TEST[node], scores = T.SCORES.slice(row * N.TREE_WIDTH, (row + 1) * N.TREE_WIDTH);
    if (!N.TREE_COUNTS) return { scores, rows: T.COVER[row] };
    const rows = scores.reduce((sum, count) => sum + count, 0);
    return { scores: scores.map((count) => count / rows), rows };
  }
  const left = means(node + 1), right = means(node + T.SKIP[node]), rows = left.rows + right.rows;
  const [fromLeft, fromRight] = [left.rows / rows, right.rows / rows];
  return { scores: left.scores.map((score, i) => fromLeft * score + fromRight * right.scores[i]), rows };
}

function addScores(out, tree, node) {
  const first = N.TREE_TARGETS ? T.TARGET[tree] : 0, scores = nodeScores(node);
  for (let i = 0; i < N.TREE_WIDTH; ++i) {
    out[first + i] += scores[i];
    if (N.TREE_SINGLE_SUMS) out[first + i] = single(out[first + i]);
  }
}
