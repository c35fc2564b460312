/* Learners drawn with replacement. Those that cost nothing vote first, and all of them once all are affordable. */

static void begin_choice(farthing_state *s)
{
    s->mode = EXACTLY;
    s->changed = 1;
}

/* The upper 64 bits of a product. */
static uint64_t multiply_high(uint64_t a, uint64_t b)
{
    const uint64_t low = (a & 0xffffffffULL) * (b & 0xffffffffULL);
    const uint64_t left = (a >> 32) * (b & 0xffffffffULL) + (low >> 32);
    const uint64_t right = (a & 0xffffffffULL) * (b >> 32) + (left & 0xffffffffULL);
    return (a >> 32) * (b >> 32) + (left >> 32) + (right >> 32);
}

static int32_t draw(const farthing_state *s)
{
    const uint64_t place = multiply_high(random_bits(s->key, (uint64_t)s->samples), CUMULATIVE[LEARNERS - 1]);
    int32_t low = 0, high = LEARNERS;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (CUMULATIVE[middle] > place) high = middle;
        else low = middle + 1;
    }
    return low;
}

/* What changes with purchases and refusals alone; returns whether anything did. */
static int renew(farthing_state *s)
{
    int32_t i;
    if (!s->changed) return 0;
    s->changed = 0;
    s->key = draw_key(s);
    s->unpaid = 0.0;
    for (i = 0; i < COSTLY_LEARNERS && BY_COST_COST[i] > s->unpaid; ++i) {
        double price;
        mark_learner(s, BY_COST[i]);
        price = price_of_marked(s);
        if (price > s->unpaid) s->unpaid = price;
    }
    return 1;
}

#if FULL_VOTE
static int affords_everything(farthing_state *s)
{
    int32_t learner;
    for (learner = 0; learner < LEARNERS; ++learner) mark_learner(s, learner);
    return spent_with_marked(s) <= s->limit;
}
#endif

static int32_t next_learner(farthing_state *s)
{
#if EXACT_LEARNERS > 0
    if (s->mode == EXACTLY && s->place < EXACT_LEARNERS) return EXACT[s->place++];
#endif
    if (s->mode == EXACTLY) s->mode = DRAWING;
    if (s->mode == DRAWING) {
        if (CUMULATIVE[LEARNERS - 1] == 0) return NOBODY;
#if FULL_VOTE
        if (renew(s) && affords_everything(s)) {
            s->mode = ALL;
            s->place = 0;
        } else
#else
        (void)renew(s);
#endif
        {
            if (s->samples >= MAX_SAMPLES || spent_with_marked(s) + s->unpaid > s->limit) return NOBODY;
            return draw(s);
        }
    }
    return s->place == LEARNERS ? NOBODY : s->place++;
}

static void count_vote(farthing_state *s, const double *vote)
{
    double *sum = s->mode == EXACTLY ? s->certain : s->mode == ALL ? s->full : s->drawn;
    int i;
    for (i = 0; i < K; ++i) sum[i] += vote[i];
    if (s->mode == DRAWING) s->samples += 1;
}

static void total_vote(const farthing_state *s, double *out)
{
    int i;
    for (i = 0; i < K; ++i) {
        if (s->mode == ALL && (s->place == LEARNERS || !s->samples)) {
            out[i] = s->full[i];
        } else if (s->samples) {
            const double scaled = DRAW_SCALE * s->drawn[i];
            out[i] = s->certain[i] + scaled / s->samples;
        } else {
            out[i] = s->certain[i];
        }
    }
}
