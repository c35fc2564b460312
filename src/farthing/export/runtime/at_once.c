/* Rows that have every value, without a limit: sums and features seen by the second copy of the trees. */

#if FARTHING_FAST
/* Two values are unordered if one of them is NAN. */
static int is_whole(const double *values)
{
    int32_t item;
    int lacks = 0;
    for (item = 0; item + 1 < FARTHING_ITEMS; item += 2) lacks |= isunordered(values[item], values[item + 1]);
    if (FARTHING_ITEMS % 2) lacks |= isnan(values[FARTHING_ITEMS - 1]);
    return !lacks;
}

static void take_trees(const double *values, double *out, uint32_t *seen)
{
    memcpy(seen, ALWAYS, FARTHING_WORDS * sizeof *seen);
    fast_trees(values, out, seen);
}

#define IS_SEEN(seen, item) ((seen)[(item) >> 5] >> ((item) & 31) & 1u)

/* The walk is over then, so the values themselves need not be kept. */
static void policy_take_all(farthing_state *s, const double *values)
{
    enum { TAKEN = OWNED | BOUGHT | ANSWERED | HEARD | LOOKED };
    uint32_t seen[FARTHING_WORDS];
    int32_t item;
    take_trees(values, s->outputs, seen);
    for (item = 0; item < FARTHING_ITEMS; ++item) {
#if FARTHING_GROUPS > 0
        if (IS_SEEN(seen, item)) buy(s, item);
#endif
        s->flags[item] = (uint8_t)(IS_SEEN(seen, item) * TAKEN);
    }
    s->tree = TREES;
    s->node = ROOTS[TREES];
    s->asked = -1;
}

/* What the features seen cost, added in the order of the cost sheet; whole prices may be added in any order. */
static double spent_on(const uint32_t *seen)
{
    int32_t i;
#if PRICES_WHOLE && FARTHING_GROUPS == 0
    spend sum = 0;
    for (i = 0; i < FARTHING_ITEMS; i += SUMS_OF) {
        const int32_t chosen = (int32_t)(seen[i >> 5] >> (i & 31)) & ((1 << SUMS_OF) - 1);
        sum += SUMS[(i / SUMS_OF << SUMS_OF) + chosen];
    }
#else
    spend sum = 0;
#if FARTHING_GROUPS > 0
    uint8_t paid[FARTHING_GROUPS];
    memset(paid, 0, sizeof paid);
#endif
    for (i = 0; i < FARTHING_ITEMS; ++i) {
        sum += (spend)IS_SEEN(seen, i) * OWN[i];
#if FARTHING_GROUPS > 0
        if (GROUP_OF[i] >= 0) paid[GROUP_OF[i]] |= (uint8_t)IS_SEEN(seen, i);
#endif
    }
#if FARTHING_GROUPS > 0
    for (i = 0; i < FARTHING_GROUPS; ++i) sum += (spend)paid[i] * SHARED[i];
#endif
#endif
    return sum;
}

static farthing_result decide_by_walk(const double *values, uint32_t *acquired)
{
    farthing_state s;
    int32_t item;
    farthing_start(&s, HUGE_VAL);
    farthing_tell_all(&s, values);
    memset(acquired, 0, FARTHING_WORDS * sizeof *acquired);
    for (item = 0; item < FARTHING_ITEMS; ++item) {
        acquired[item >> 5] |= (uint32_t)farthing_acquired(&s, item) << (item & 31);
    }
    return farthing_decision(&s);
}

farthing_result farthing_decide(const double *values, uint32_t *acquired)
{
    farthing_result result;
    double out[FARTHING_WIDEST];
    uint32_t any = 0;
    int i;
    if (!is_whole(values)) return decide_by_walk(values, acquired);
    for (i = 0; i < FARTHING_WIDEST; ++i) out[i] = 0.0;
    take_trees(values, out, acquired);
    for (i = 0; i < FARTHING_WORDS; ++i) any |= acquired[i];
    result.spent = spent_on(acquired);
    if (any || !PROGRAM_SETTLES) {
        conclude(out, &result);
    } else {
        memcpy(result.value, UNSEEN, sizeof result.value);
        result.label = UNSEEN_LABEL;
    }
    return result;
}
#endif
