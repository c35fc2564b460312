/* Sets of columns (units) drawn without replacement: all learners that have their columns vote, with weights that
   keep the estimate of the full vote unbiased. */

enum { OPEN = 1, CHOSEN = 2 };

static void begin_choice(farthing_state *s)
{
    s->share = 1.0;
    s->voter = -1;
    memcpy(s->unknown, MEAN_TOTAL, sizeof s->unknown);
}

/* The columns of a unit, those of its first learner, that the row neither owns nor was refused. */
#define LACKS(s, item) (!((s)->flags[item] & (OWNED | HEARD)))
#define FIRST_OF(unit) UNIT_LEARNER[UNIT_BEGIN[unit]]

/* Whether the purchase of a unit lets all learners of the other one vote. */
static int completes(const farthing_state *s, int32_t unit, int32_t other)
{
    const int32_t a = FIRST_OF(unit), b = FIRST_OF(other);
    int32_t i, j;
    for (i = SET_BEGIN[b]; i < SET_BEGIN[b + 1]; ++i) {
        if (!LACKS(s, SET_ITEM[i])) continue;
        for (j = SET_BEGIN[a]; j < SET_BEGIN[a + 1] && SET_ITEM[j] != SET_ITEM[i]; ++j) {}
        if (j == SET_BEGIN[a + 1]) return 0;
    }
    return 1;
}

/* Whether the budget covers the other unit after the purchase of a unit. */
static int covers(farthing_state *s, int32_t unit, int32_t other)
{
    const double limit = s->budget * (1 + 5e-13);
    if (s->budget == HUGE_VAL) return 1;
    if (s->spent + (s->prices[unit] + s->prices[other]) <= limit) return 1;
#if ADDITIVE
    return 0;
#else
    mark_learner(s, FIRST_OF(unit));
    mark_learner(s, FIRST_OF(other));
    return s->spent + price_of_marked(s) <= limit;
#endif
}

static void choose_unit(farthing_state *s, int32_t unit, double weight)
{
    s->units[unit] = CHOSEN;
    s->weights[unit] = weight;
}

/* What the open units cost and score, and sums of it. */
typedef struct {
    double total, worth, spread, drawn_spread, cost, left;
    int32_t n_open, n_free, best;
} open_units;

static open_units look_at_units(farthing_state *s)
{
    open_units found = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0, 0, -1};
    int32_t unit;
    s->spent = spent_with_marked(s);
    found.left = s->budget - s->spent;
    for (unit = 0; unit < UNITS; ++unit) {
        double price, score, part;
        if (s->units[unit] != OPEN) continue;
        mark_learner(s, FIRST_OF(unit));
        price = price_of_marked(s);
        part = price * PRICE_UNIT * PRICE_UNIT_REST;
        if (part < 0x1p-900) part = 0x1p-900;
        score = price > 0.0 ? SPREAD[unit] / sqrt(part) : HUGE_VAL;
        s->prices[unit] = price;
        s->scores[unit] = score;
        found.total += score;
        part = score * price;
        found.worth += part;
        found.spread += SPREAD[unit];
        part = score * SPREAD[unit];
        found.drawn_spread += part;
        found.cost += price;
        found.n_open += 1;
        found.n_free += price <= 0.0;
        if (found.best < 0 || score > s->scores[found.best]) found.best = unit;
    }
    return found;
}

/* The weight of what is estimated after this draw: above 0, at most 1. */
static double deferred_weight(const open_units *found, int32_t draws_left)
{
    const int32_t others = found->n_open - 1;
    double price, rest, part = 1.0, more, undrawn, later;
    if (!others) return 1.0;
    price = found->worth / found->total;
    rest = found->cost - price;
    if (rest > 0.0) {
        part = (found->left - price) / rest;
        part = part > 0.0 ? part : 0.0;
        part = part < 1.0 ? part : 1.0;
    }
    more = part * others;
    if (more > draws_left) more = draws_left;
    part = more / others;
    if (more < 1.0) more = 1.0;
    undrawn = (found->spread - found->drawn_spread / found->total) * (1.0 - part);
    later = more * found->spread;
    return later / (undrawn + later);
}

#if FULL_VOTE
/* A unit whose expected number of draws is at least one is bought, if all others can still be. */
static int take_certain(farthing_state *s, const open_units *found)
{
    int32_t unit;
    if (MAX_SAMPLES - s->samples < 2 || found->left * s->scores[found->best] < found->worth) return 0;
    for (unit = 0; unit < UNITS; ++unit) {
        if (s->units[unit] == OPEN && !completes(s, found->best, unit) && !covers(s, found->best, unit)) return 0;
    }
    for (unit = 0; unit < UNITS; ++unit) {
        if (s->units[unit] == OPEN && completes(s, found->best, unit)) choose_unit(s, unit, s->share);
    }
    return 1;
}
#endif

static int32_t draw_unit(const farthing_state *s, double total)
{
    const uint64_t bits = random_bits(draw_key(s), (uint64_t)s->samples);
    const double place = (double)(bits >> 11) * 0x1p-53 * total;
    double upto = 0.0;
    int32_t unit, last = -1;
    for (unit = 0; unit < UNITS; ++unit) {
        if (s->units[unit] != OPEN) continue;
        last = unit;
        upto += s->scores[unit];
        if (upto > place) return unit;
    }
    return last;
}

static void take_drawn(farthing_state *s, const open_units *found)
{
    const int32_t drawn = draw_unit(s, found->total), draws_left = MAX_SAMPLES - s->samples - 1;
    const double deferred = deferred_weight(found, draws_left);
    uint8_t *after = s->after;
    int32_t unit, other;
    for (unit = 0; unit < UNITS; ++unit) {
        double chance = 0.0, later = 0.0;
        after[unit] = s->units[unit];
        if (s->units[unit] != OPEN) continue;
        if (!completes(s, drawn, unit)) {
            after[unit] = draws_left && covers(s, drawn, unit) ? OPEN : 0;
            continue;
        }
        for (other = 0; other < UNITS; ++other) {
            if (s->units[other] != OPEN) continue;
            if (completes(s, other, unit)) chance += s->scores[other];
            else if (draws_left && covers(s, other, unit)) later += s->scores[other];
        }
        later = deferred * later;
        s->weights[unit] = s->share * ((found->total - later) / chance);
        after[unit] = CHOSEN;
    }
    memcpy(s->units, after, sizeof s->units);
    s->share *= deferred;
}

static int affords_all_open(farthing_state *s)
{
    int32_t unit;
    for (unit = 0; unit < UNITS; ++unit) if (s->units[unit] == OPEN) mark_learner(s, FIRST_OF(unit));
    return spent_with_marked(s) <= s->limit;
}

/* Choose the units whose learners vote next; 0 at the end. */
static int choose_units(farthing_state *s)
{
    const open_units found = look_at_units(s);
    int32_t unit;
    if (!found.n_open) return 0;
    if (found.n_free || (FULL_VOTE && affords_all_open(s))) {
        for (unit = 0; unit < UNITS; ++unit) {
            if (s->units[unit] == OPEN && (!found.n_free || s->prices[unit] <= 0.0)) choose_unit(s, unit, s->share);
        }
        return 1;
    }
#if FULL_VOTE
    if (!take_certain(s, &found))
#endif
        take_drawn(s, &found);
    s->samples += 1;
    return 1;
}

static void open_all(farthing_state *s)
{
    int32_t unit;
    for (unit = 0; unit < UNITS; ++unit) {
        mark_learner(s, FIRST_OF(unit));
        s->units[unit] = spent_with_marked(s) <= s->limit ? OPEN : 0;
    }
}

/* The next learner of the chosen units, unit by unit; constants come first of all. */
static int32_t next_learner(farthing_state *s)
{
    if (s->voter < 0) {
        open_all(s);
        s->voter = 0;
        s->weight = 1.0;
    }
#if CONSTANTS > 0
    if (s->voter < CONSTANTS) return CONSTANT[s->voter++];
#endif
    for (;;) {
        int32_t unit;
        for (unit = 0; unit < UNITS && s->units[unit] != CHOSEN; ++unit) {}
        if (unit < UNITS) {
            const int32_t member = s->voter - CONSTANTS;
            s->weight = s->weights[unit];
            if (member < UNIT_BEGIN[unit + 1] - UNIT_BEGIN[unit]) {
                s->voter += 1;
                return UNIT_LEARNER[UNIT_BEGIN[unit] + member];
            }
            s->units[unit] = 0;
            s->voter = CONSTANTS;
        } else if (!choose_units(s)) {
            return NOBODY;
        }
    }
}

static void count_vote(farthing_state *s, const double *vote)
{
    int i;
    for (i = 0; i < K; ++i) {
        const double mean = MEAN_VOTE[s->learner * K + i];
        if (s->weight == 1.0) {
            s->known[i] += vote[i];
            s->unknown[i] -= mean;
        } else {
            const double part = s->weight * (vote[i] - mean);
            s->estimate[i] += part;
        }
    }
}

static void total_vote(const farthing_state *s, double *out)
{
    int i;
    for (i = 0; i < K; ++i) out[i] = s->known[i] + s->unknown[i] + s->estimate[i];
}
