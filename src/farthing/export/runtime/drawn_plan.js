// A vote of learners that are chosen one after another, within the budget.

const K = N.FARTHING_OUTPUTS, NOBODY = -1;
const itemsOf = (learner) => T.SET_ITEM.slice(T.SET_BEGIN[learner], T.SET_BEGIN[learner + 1]);

// Random numbers without a state: draw n of a key is a function of both (SplitMix64, twice).
const WEYL = 0x9e3779b97f4a7c15n, word = (x) => BigInt.asUintN(64, x);

function mix(z) {
  z = word((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
  z = word((z ^ (z >> 27n)) * 0x94d049bb133111ebn);
  return z ^ (z >> 31n);
}

const randomBits = (key, counter) => mix(word(mix(word(key + WEYL)) + word((counter + 1n) * WEYL)));
const PURCHASE = (T.PURCHASE ?? []).map(BigInt);

// The key of the next draw: the seed's, with the bits of each purchase.
function drawKey(s) {
  let key = s.seedKey;
  PURCHASE.forEach((bits, item) => { if (s.flags[item] & BOUGHT) key ^= bits; });
  return key;
}

// Mark the columns of a learner, but those that were refused.
function markLearner(s, learner) {
  for (const item of itemsOf(learner)) if ((s.flags[item] & (OWNED | HEARD)) !== HEARD) s.mark(item);
}

// The price of all marked items; the marks are taken away.
function priceOfMarked(s) {
  let sum = 0;
  for (let i = 0; i < N.FARTHING_ITEMS; ++i) {
    if (s.flags[i] & MARKED) sum += T.OWN[i];
    s.flags[i] &= ~MARKED;
  }
  for (let i = 0; i < N.FARTHING_GROUPS; ++i) {
    if (s.groups[i] & DUE) sum += T.SHARED[i];
    s.groups[i] &= ~DUE;
  }
  return sum;
}

// To the nearest whole number, of two the even one.
function nearest(x) {
  const big = 4503599627370496;
  if (!(Math.abs(x) < big)) return x;
  return x < 0 ? x - big + big : x + big - big;
}

const treeVote = {
  begin(s) { s.node = T.ROOTS[s.learner]; },
  wants: (s) => (s.stays || isLeaf(s.node) ? -1 : T.FEATURE[s.node]),
  hear(s) {
    const next = step(s, s.node);
    s.stays = next === s.node;
    s.node = next;
  },
  cast: (s, drawn) => (drawn ? T.DRAWN_VOTE : T.VOTE).slice(s.node * K, s.node * K + K),
};

const linearVote = {
  begin() {},
  wants: (s) => (s.stays ? -1 : T.VOTER[s.learner]),
  hear(s) { s.stays = true; },
  cast(s, drawn) {
    const item = T.VOTER[s.learner];
    let value = T.FACTOR[s.learner];
    if (item >= 0) {
      const x = s.flags[item] & REFUSED ? NaN : s.value[item];
      value = Number.isNaN(x) ? T.MISSING_VOTE[s.learner] : value * x;
    }
    return [drawn ? T.WEIGHT[s.learner] * value : nearest(T.ALPHA[s.learner] * value * N.STEPS) / N.STEPS];
  },
};

const voting = N.DRAWN_TREES ? treeVote : linearVote;

const policy = {
  start(s, seed) {
    Object.assign(s, { learner: NOBODY, stays: false, hasRead: false, samples: 0, place: 0 });
    s.seedKey = randomBits(0x6661727468696e67n, word(BigInt(seed)));
    choice.begin(s);
  },
  wants(s) {
    s.hasRead ||= s.flags.some((flags) => (flags & (HEARD | OWNED)) === (HEARD | OWNED));
    for (;;) {
      if (s.learner !== NOBODY) {
        const item = voting.wants(s);
        if (item >= 0) return item;
        choice.count(s, voting.cast(s, choice.isDrawn(s)));
      }
      s.learner = choice.next(s);
      if (s.learner === NOBODY) return -1;
      s.stays = false;
      voting.begin(s);
    }
  },
  hear(s, item) {
    if (!(s.flags[item] & HEARD)) s.changed = true;
    s.flags[item] |= HEARD;
    if (s.learner !== NOBODY) voting.hear(s);
  },
  refuse(s, item) {
    this.hear(s, item);
  },
  output(s, ended) {
    const heard = s.flags.some((flags) => flags & HEARD);
    const drewConstants = N.DRAWN_ONE_BY_ONE && ended && s.samples > 0 && !heard;
    return s.hasRead || drewConstants ? choice.total(s) : T.PRIOR;
  },
};
