// Sets of columns (units) drawn without replacement: all learners that have their columns vote, with weights that
// keep the estimate of the full vote unbiased.

const firstOf = (unit) => T.UNIT_LEARNER[T.UNIT_BEGIN[unit]];
const UNIT_ITEMS = Array.from({ length: N.UNITS }, (_, unit) => itemsOf(firstOf(unit)));

// The price of all columns of some units that the row neither owns nor was refused.
function priceOfUnits(s, ...units) {
  for (const unit of units) markLearner(s, firstOf(unit));
  return priceOfMarked(s);
}

// The open units, with their prices and scores, and sums of them.
class OpenUnits {
  constructor(s) {
    this.s = s;
    this.spent = s.spentWithMarked();
    this.left = s.budget - this.spent;
    this.units = s.open;
    this.lacks = this.units.map((unit) => UNIT_ITEMS[unit].filter((item) => !(s.flags[item] & (OWNED | HEARD))));
    this.prices = this.units.map((unit) => priceOfUnits(s, unit));
    this.scores = this.units.map((unit, i) => {
      const part = Math.max(this.prices[i] * N.PRICE_UNIT * N.PRICE_UNIT_REST, 2 ** -900);
      return this.prices[i] > 0 ? T.SPREAD[unit] / Math.sqrt(part) : Infinity;
    });
    Object.assign(this, { total: 0, worth: 0, spread: 0, drawnSpread: 0, cost: 0 });
    this.units.forEach((unit, i) => {
      this.total += this.scores[i];
      this.worth += this.scores[i] * this.prices[i];
      this.spread += T.SPREAD[unit];
      this.drawnSpread += this.scores[i] * T.SPREAD[unit];
      this.cost += this.prices[i];
    });
  }

  // Whether the purchase of a unit lets all learners of the other one vote.
  completes(unit, other) {
    return this.lacks[other].every((item) => this.lacks[unit].includes(item));
  }

  // Whether the budget covers the other unit after the purchase of a unit.
  covers(unit, other) {
    const { budget } = this.s, limit = budget * (1 + 5e-13);
    if (budget === Infinity) return true;
    if (this.spent + (this.prices[unit] + this.prices[other]) <= limit) return true;
    return !N.ADDITIVE && this.spent + priceOfUnits(this.s, this.units[unit], this.units[other]) <= limit;
  }

  // The weight of what is estimated after this draw: above 0, at most 1.
  deferred(drawsLeft) {
    const others = this.units.length - 1;
    if (!others) return 1;
    const price = this.worth / this.total, rest = this.cost - price;
    const affordable = rest > 0 ? Math.min(Math.max((this.left - price) / rest, 0), 1) : 1;
    const most = Math.min(affordable * others, drawsLeft), part = most / others, more = Math.max(most, 1);
    const undrawn = (this.spread - this.drawnSpread / this.total) * (1 - part);
    return (more * this.spread) / (undrawn + more * this.spread);
  }

  draw() {
    const bits = randomBits(drawKey(this.s), BigInt(this.s.samples));
    const place = Number(bits >> 11n) * 2 ** -53 * this.total;
    let upto = 0;
    const found = this.scores.slice(0, -1).findIndex((score) => (upto += score) > place);
    return found < 0 ? this.scores.length - 1 : found;
  }
}

function takeCertain(s, found) {
  const best = found.scores.indexOf(Math.max(...found.scores));
  if (!N.FULL_VOTE || N.MAX_SAMPLES - s.samples < 2 || found.left * found.scores[best] < found.worth) return false;
  const others = found.units.filter((_, i) => !found.completes(best, i));
  if (!found.units.every((_, i) => found.completes(best, i) || found.covers(best, i))) return false;
  s.queue = found.units.filter((_, i) => found.completes(best, i)).map((unit) => [unit, s.share]);
  s.open = others;
  return true;
}

function takeDrawn(s, found) {
  const drawn = found.draw(), drawsLeft = N.MAX_SAMPLES - s.samples - 1, deferred = found.deferred(drawsLeft);
  const open = [];
  found.units.forEach((unit, i) => {
    if (!found.completes(drawn, i)) {
      if (drawsLeft && found.covers(drawn, i)) open.push(unit);
      return;
    }
    let chance = 0, later = 0;
    found.scores.forEach((score, other) => {
      if (found.completes(other, i)) chance += score;
      else if (drawsLeft && found.covers(other, i)) later += score;
    });
    s.queue.push([unit, s.share * ((found.total - deferred * later) / chance)]);
  });
  s.share *= deferred;
  s.open = open;
}

// Choose the units whose learners vote next; false at the end.
function chooseUnits(s) {
  if (!s.open.length) return false;
  const found = new OpenUnits(s), free = found.units.filter((_, i) => found.prices[i] <= 0);
  const takesAll = () => {
    for (const unit of s.open) markLearner(s, firstOf(unit));
    return s.spentWithMarked() <= s.limit;
  };
  if (free.length || (N.FULL_VOTE && takesAll())) {
    s.queue = (free.length ? free : found.units).map((unit) => [unit, s.share]);
    s.open = free.length ? found.units.filter((unit) => !free.includes(unit)) : [];
    return true;
  }
  if (!takeCertain(s, found)) takeDrawn(s, found);
  s.samples += 1;
  return true;
}

const choice = {
  begin(s) {
    const zeros = () => new Float64Array(K);
    Object.assign(s, { share: 1, weight: 1, queue: [], voters: null, open: null });
    Object.assign(s, { known: zeros(), unknown: Float64Array.from(T.MEAN_TOTAL), estimate: zeros() });
  },
  isDrawn: () => false,
  next(s) {
    if (s.open === null) {
      s.open = UNIT_ITEMS.map((_, unit) => unit).filter((unit) => {
        markLearner(s, firstOf(unit));
        return s.spentWithMarked() <= s.limit;
      });
      s.voters = [...(T.CONSTANT ?? [])];
    }
    while (!s.voters.length) {
      if (!s.queue.length && !chooseUnits(s)) return NOBODY;
      const [unit, weight] = s.queue.shift();
      s.weight = weight;
      s.voters = T.UNIT_LEARNER.slice(T.UNIT_BEGIN[unit], T.UNIT_BEGIN[unit + 1]);
    }
    return s.voters.shift();
  },
  count(s, vote) {
    vote.forEach((each, i) => {
      const mean = T.MEAN_VOTE[s.learner * K + i];
      if (s.weight === 1) {
        s.known[i] += each;
        s.unknown[i] -= mean;
      } else {
        s.estimate[i] += s.weight * (each - mean);
      }
    });
  },
  total: (s) => s.known.map((sum, i) => sum + s.unknown[i] + s.estimate[i]),
};
