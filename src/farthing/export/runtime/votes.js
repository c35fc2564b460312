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
