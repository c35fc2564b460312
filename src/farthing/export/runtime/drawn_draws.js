// Learners drawn with replacement. Those that cost nothing vote first, and all of them once all are affordable.

const EXACTLY = 0, DRAWING = 1, ALL = 2;
const CUMULATIVE = T.CUMULATIVE.map(BigInt), TOTAL = CUMULATIVE[N.LEARNERS - 1];

function draw(s) {
  const place = (randomBits(s.key, BigInt(s.samples)) * TOTAL) >> 64n;
  let low = 0, high = N.LEARNERS;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (CUMULATIVE[middle] > place) high = middle;
    else low = middle + 1;
  }
  return low;
}

// What changes with purchases and refusals alone; returns whether anything did.
function renew(s) {
  if (!s.changed) return false;
  s.changed = false;
  s.key = drawKey(s);
  s.unpaid = 0;
  for (let i = 0; i < N.COSTLY_LEARNERS && T.BY_COST_COST[i] > s.unpaid; ++i) {
    markLearner(s, T.BY_COST[i]);
    s.unpaid = Math.max(s.unpaid, priceOfMarked(s));
  }
  return true;
}

function affordsEverything(s) {
  for (let learner = 0; learner < N.LEARNERS; ++learner) markLearner(s, learner);
  return s.spentWithMarked() <= s.limit;
}

const choice = {
  begin(s) {
    const zeros = () => new Float64Array(K);
    Object.assign(s, { mode: EXACTLY, changed: true, certain: zeros(), full: zeros(), drawn: zeros() });
  },
  isDrawn: (s) => s.mode === DRAWING,
  next(s) {
    if (s.mode === EXACTLY) {
      if (s.place < N.EXACT_LEARNERS) return T.EXACT[s.place++];
      s.mode = DRAWING;
    }
    if (s.mode === DRAWING) {
      if (!TOTAL) return NOBODY;
      if (renew(s) && N.FULL_VOTE && affordsEverything(s)) {
        Object.assign(s, { mode: ALL, place: 0 });
      } else {
        const ends = s.samples >= N.MAX_SAMPLES || s.spentWithMarked() + s.unpaid > s.limit;
        return ends ? NOBODY : draw(s);
      }
    }
    return s.place === N.LEARNERS ? NOBODY : s.place++;
  },
  count(s, vote) {
    const sums = s.mode === EXACTLY ? s.certain : s.mode === ALL ? s.full : s.drawn;
    vote.forEach((each, i) => { sums[i] += each; });
    if (s.mode === DRAWING) s.samples += 1;
  },
  total(s) {
    if (s.mode === ALL && (s.place === N.LEARNERS || !s.samples)) return s.full;
    return s.samples ? s.certain.map((sum, i) => sum + (N.DRAW_SCALE * s.drawn[i]) / s.samples) : s.certain;
  },
};
