// Learners from the top of a list, without those that the budget cannot afford.

// Whether votes that move every sum by at most `reach` cannot change the label.
function isCertain(sums, reach) {
  if (K === 1) return sums[0] > reach || sums[0] <= -reach;
  let first = 0;
  for (let i = 1; i < K; ++i) if (sums[i] > sums[first]) first = i;
  return sums.every((sum, i) => {
    const lead = sums[first] - sum - 2 * reach;
    return i === first || (i < first ? lead > 0 : lead >= 0);
  });
}

const choice = {
  begin() {},
  isDrawn: () => false,
  next(s) {
    while (s.place < N.LEARNERS && s.samples < N.MAX_SAMPLES) {
      const [sum] = s.outputs;
      if (N.CURTAIL && s.hasRead && isCertain(s.outputs, T.REACH[s.place])) return NOBODY;
      if (N.PLAN_STOPS && s.hasRead && (sum <= T.STOP_LOW[s.place] || sum > T.STOP_HIGH[s.place])) return NOBODY;
      const learner = T.ORDER[s.place];
      s.place += 1;
      markLearner(s, learner);
      if (s.spentWithMarked() <= s.limit) return learner;
    }
    return NOBODY;
  },
  count(s, vote) {
    vote.forEach((each, i) => { s.outputs[i] += each; });
    s.samples += 1;
  },
  total: (s) => s.outputs,
};
