/* A vote of learners that are chosen one after another, within the budget. */

enum { K = FARTHING_OUTPUTS, NOBODY = -1 };
enum { EXACTLY, DRAWING, ALL };

static int32_t next_learner(farthing_state *s);
static void count_vote(farthing_state *s, const double *vote);
static void begin_choice(farthing_state *s);
static void total_vote(const farthing_state *s, double *out);

/* Mark the columns of a learner, but those that were refused. */
static void mark_learner(farthing_state *s, int32_t learner)
{
    int32_t i;
    for (i = SET_BEGIN[learner]; i < SET_BEGIN[learner + 1]; ++i) {
        if ((s->flags[SET_ITEM[i]] & (OWNED | HEARD)) != HEARD) mark(s, SET_ITEM[i]);
    }
}

#if !DRAWN_TOP
/* The price of all marked items; the marks are taken away. */
static double price_of_marked(farthing_state *s)
{
    double sum = 0.0;
    int i;
    for (i = 0; i < FARTHING_ITEMS; ++i) {
        if (s->flags[i] & MARKED) sum += OWN[i];
        s->flags[i] &= (uint8_t)~MARKED;
    }
#if FARTHING_GROUPS > 0
    for (i = 0; i < FARTHING_GROUPS; ++i) {
        if (s->groups[i] & DUE) sum += SHARED[i];
        s->groups[i] &= (uint8_t)~DUE;
    }
#endif
    return sum;
}
#endif

#if DRAWN_TREES
static void begin_vote(farthing_state *s) { s->node = ROOTS[s->learner]; }

static int32_t vote_wants(const farthing_state *s)
{
    return s->stays || FEATURE[s->node] == LEAF ? -1 : FEATURE[s->node];
}

static void vote_hears(farthing_state *s)
{
    const int32_t next = step(s, s->node);
    s->stays = next == s->node;
    s->node = next;
}

static void cast(const farthing_state *s, int drawn, double *vote)
{
    int i;
    for (i = 0; i < K; ++i) {
#if DRAWN_ONE_BY_ONE && DRAWN_VOTES
        vote[i] = drawn ? DRAWN_VOTE[s->node * K + i] : VOTE[s->node * K + i];
#elif DRAWN_ONE_BY_ONE
        vote[i] = DRAWN_VOTE[s->node * K + i];
#else
        vote[i] = VOTE[s->node * K + i];
#endif
    }
    (void)drawn;
}
#else
static void begin_vote(farthing_state *s) { s->stays = 0; }

static int32_t vote_wants(const farthing_state *s) { return s->stays ? -1 : VOTER[s->learner]; }

static void vote_hears(farthing_state *s) { s->stays = 1; }

/* To the nearest whole number, of two the even one. */
static double nearest(double x)
{
    const double big = 4503599627370496.0;
    if (!(fabs(x) < big)) return x;
    return x < 0.0 ? (x - big) + big : (x + big) - big;
}

static void cast(const farthing_state *s, int drawn, double *vote)
{
    const int32_t item = VOTER[s->learner];
    double value = FACTOR[s->learner];
    if (item >= 0) {
        const double x = s->flags[item] & REFUSED ? NAN : s->value[item];
        value = x == x ? value * x : MISSING_VOTE[s->learner];
    }
#if DRAWN_ONE_BY_ONE
    if (drawn) {
        vote[0] = WEIGHT[s->learner] * value;
        return;
    }
#endif
    (void)drawn;
    value = ALPHA[s->learner] * value;
    vote[0] = nearest(value * STEPS) / STEPS;
}
#endif

static void policy_start(farthing_state *s)
{
    s->learner = NOBODY;
#if !DRAWN_TOP
    farthing_seed(s, FARTHING_SEED);
#endif
    begin_choice(s);
}

static int32_t policy_wants(farthing_state *s)
{
    int i;
    for (i = 0; i < FARTHING_FEATURES; ++i) {
        if ((s->flags[i] & (HEARD | OWNED)) == (HEARD | OWNED)) s->has_read = 1;
    }
    for (;;) {
        if (s->learner != NOBODY) {
            const int32_t item = vote_wants(s);
            double vote[K];
            if (item >= 0) return item;
#if DRAWN_ONE_BY_ONE
            cast(s, s->mode == DRAWING, vote);
#else
            cast(s, 0, vote);
#endif
            count_vote(s, vote);
        }
        s->learner = next_learner(s);
        if (s->learner == NOBODY) return -1;
        s->stays = 0;
        begin_vote(s);
    }
}

static void policy_hear(farthing_state *s, int32_t item)
{
#if DRAWN_ONE_BY_ONE
    if (!(s->flags[item] & HEARD)) s->changed = 1;
#endif
    s->flags[item] |= HEARD;
    if (s->learner != NOBODY) vote_hears(s);
}

static void policy_refuse(farthing_state *s, int32_t item)
{
    policy_hear(s, item);
}

static void policy_output(farthing_state *s, double *out)
{
#if DRAWN_ONE_BY_ONE
    int i, heard = 0;
    for (i = 0; i < FARTHING_FEATURES; ++i) heard |= s->flags[i] & HEARD;
    if (s->has_read || (s->asked < 0 && s->samples > 0 && !heard)) total_vote(s, out);
#else
    if (s->has_read) total_vote(s, out);
#endif
    else memcpy(out, PRIOR, sizeof PRIOR);
}
