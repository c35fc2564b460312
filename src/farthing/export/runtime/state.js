// The walk of a model: one feature at a time, with the account of what it spends. `MODEL` holds the tables.

const OWNED = 1, BOUGHT = 2, ANSWERED = 4, HEARD = 8, REFUSED = 16, LOOKED = 32, KNOWN = 64, MARKED = 128;
const PAID = 1, PAID_HERE = 2, DUE = 4;
const T = MODEL.tables, N = MODEL.numbers;
const single = Math.fround;

// What a row owns, has paid and has been told; a policy adds fields of its own.
class State {
  constructor(budget) {
    this.value = new Float64Array(N.FARTHING_ITEMS);
    this.flags = new Uint8Array(N.FARTHING_ITEMS);
    this.groups = new Uint8Array(N.FARTHING_GROUPS);
    this.outputs = new Float64Array(N.FARTHING_OUTPUTS);
    this.budget = budget;
    this.limit = budget * (1 + 1e-12);
    this.spent = 0;
  }

  mark(item) {
    if (this.flags[item] & OWNED) return;
    this.flags[item] |= MARKED;
    const group = N.FARTHING_GROUPS ? T.GROUP_OF[item] : -1;
    if (group >= 0 && !(this.groups[group] & PAID)) this.groups[group] |= DUE;
  }

  // The spend with all marked items, added in the order of the cost sheet; the marks are taken away.
  spentWithMarked() {
    let sum = 0;
    for (let i = 0; i < N.FARTHING_ITEMS; ++i) {
      if (this.flags[i] & (BOUGHT | MARKED)) sum += T.OWN[i];
      this.flags[i] &= ~MARKED;
    }
    for (let i = 0; i < N.FARTHING_GROUPS; ++i) {
      if (this.groups[i] & (PAID_HERE | DUE)) sum += T.SHARED[i];
      this.groups[i] &= ~DUE;
    }
    return sum;
  }

  affords(...items) {
    for (const item of items) this.mark(item);
    return this.spentWithMarked() <= this.limit;
  }

  buy(item) {
    if (this.flags[item] & OWNED) return;
    this.flags[item] |= OWNED | BOUGHT;
    const group = N.FARTHING_GROUPS ? T.GROUP_OF[item] : -1;
    if (group >= 0 && !(this.groups[group] & PAID)) this.groups[group] |= PAID | PAID_HERE;
    this.spent = this.spentWithMarked();
  }

  heardValue(item) {
    return this.flags[item] & HEARD ? this.value[item] : NaN;
  }
}
