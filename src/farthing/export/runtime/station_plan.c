/* Stations: columns to ask for, scores to evaluate, and where the row goes then. */

static void policy_start(farthing_state *s)
{
#if PLAN_CALLS
    s->heard = -1;
    s->call = CALLS[0];
#endif
#if PLAN_ROUTES
    s->station = -1;
    s->node = ROUTES;
#else
    s->at = COLUMNS_BEGIN[0];
#endif
#if !PLAN_PARTIAL
    memcpy(s->outputs, START, sizeof s->outputs);
#endif
}

/* The scores of a station, with all that was heard. */
static void evaluate(const farthing_state *s, int32_t station, double *out)
{
    int32_t i, j;
#if PLAN_TREES
    for (j = 0; j < FARTHING_OUTPUTS; ++j) out[j] = 0.0;
    for (i = TREES_BEGIN[station]; i < TREES_END[station]; ++i) {
        int32_t node = ROOTS[i];
        while (FEATURE[node] != LEAF) {
            const int32_t next = step(s, node);
            if (next == node) break;
            node = next;
        }
        add_scores(out, i, node);
    }
#if PLAN_INTERCEPTS
    for (j = 0; j < FARTHING_OUTPUTS; ++j) out[j] += INTERCEPT[station * FARTHING_OUTPUTS + j];
#endif
#else
    for (j = 0; j < FARTHING_OUTPUTS; ++j) out[j] = INTERCEPT[station * FARTHING_OUTPUTS + j];
    for (i = TERMS_BEGIN[station]; i < TERMS_BEGIN[station + 1]; ++i) {
        const int32_t item = TERM_ITEM[i];
        double x = s->flags[item] & HEARD ? s->value[item] : NAN;
        if (x - x == 0.0) {
            if (TERM_CATEGORY[i] == TERM_CATEGORY[i]) x = x == TERM_CATEGORY[i] ? 1.0 : 0.0;
            x = (x - TERM_MEAN[i]) / TERM_SCALE[i];
        } else {
            x = 0.0;
        }
        for (j = 0; j < FARTHING_OUTPUTS; ++j) {
            const double part = x * TERM_COEF[i * FARTHING_OUTPUTS + j];
            out[j] += part;
        }
    }
#endif
}

static void read_out(int32_t station, double *out)
{
#if PLAN_READOUT
    int i;
    for (i = 0; i < PLAN_SCALED; ++i) {
        double x = out[i];
#if PLAN_RANKS
        x = station + (1 + x / (1 + fabs(x))) / 2;
#endif
        x = x / DIVISOR[station];
#if PLAN_AFFINE
        x = SLOPE[station] * x;
        x = x + OFFSET[station];
        if (x > MOST[station]) x = MOST[station];
#endif
        out[i] = x;
    }
#else
    (void)station;
    (void)out;
#endif
}

#if !PLAN_PARTIAL
/* Where a row goes from a station whose scores are known. */
static int32_t next_station(int32_t station, const double *scores)
{
#if PLAN_DIRECTED
    double sum = 0.0;
    int i;
    for (i = 0; i < FARTHING_OUTPUTS; ++i) {
        const double part = scores[i] * DIRECTION[station * FARTHING_OUTPUTS + i];
        sum += part;
    }
    return CHILDREN[2 * station + (sum > CUT[station])];
#else
    (void)scores;
    return CHILDREN[2 * station + 1];
#endif
}

#if PLAN_WHOLE
static int affords_station(farthing_state *s, int32_t station)
{
    int32_t i;
    for (i = COLUMNS_BEGIN[station]; i < COLUMNS_BEGIN[station + 1]; ++i) mark(s, COLUMNS[i]);
    return spent_with_marked(s) <= s->limit;
}
#endif

static void finish(farthing_state *s)
{
    double scores[FARTHING_OUTPUTS];
    int32_t next;
    evaluate(s, s->station, scores);
    next = next_station(s->station, scores);
    memcpy(s->outputs, scores, sizeof scores);
    read_out(s->station, s->outputs);
#if PLAN_WHOLE
    if (next >= 0 && !affords_station(s, next)) next = -1;
#endif
#if PLAN_EXITS
    if (next >= 0 && ends_here(s->outputs, s->station)) next = -1;
#endif
    if (next < 0) {
        s->done = 1;
        return;
    }
    s->station = next;
    s->at = COLUMNS_BEGIN[next];
#if PLAN_CALLS
    s->call = CALLS[next];
#endif
}
#endif

static int32_t policy_wants(farthing_state *s)
{
#if PLAN_CALLS
    if (s->heard >= 0 && (s->flags[s->heard] & OWNED)) s->looked = 1;
#endif
#if PLAN_ROUTES
    if (s->station < 0) {
        while (FEATURE[s->node] != LEAF) {
            int32_t next;
            if (!(s->flags[FEATURE[s->node]] & HEARD)) return FEATURE[s->node];
            next = step(s, s->node);
            if (next == s->node) break;
            s->node = next;
        }
        s->station = (int32_t)ROUTE_SCORES[SCORE_OF(s->node) * (FARTHING_OUTPUTS + 1)];
        s->at = COLUMNS_BEGIN[s->station];
    }
#endif
    while (!s->done) {
        while (s->at < COLUMNS_BEGIN[s->station + 1]) {
            const int32_t item = COLUMNS[s->at];
            if (s->flags[item] & HEARD) {
                s->at += 1;
                continue;
            }
#if PLAN_CALLS
            if (s->call >= 0 && !affords_both(s, item, s->call)) {
                s->value[item] = NAN;
                s->flags[item] |= HEARD;
                s->heard = item;
                continue;
            }
#endif
            return item;
        }
#if PLAN_CALLS
        if (s->call >= 0) {
            if (s->looked) return s->call;
            s->done = 1;
            return -1;
        }
#endif
#if PLAN_PARTIAL
        s->done = 1;
#else
        finish(s);
#endif
    }
    return -1;
}

static void policy_hear(farthing_state *s, int32_t item)
{
#if PLAN_CALLS
    if (item == s->call) {
        s->call = -1;
        s->done = s->value[item] != s->value[item];
        return;
    }
    s->heard = item;
#endif
    s->flags[item] |= HEARD;
}

static void policy_refuse(farthing_state *s, int32_t item)
{
    policy_hear(s, item);
}

static void policy_output(farthing_state *s, double *out)
{
#if PLAN_PARTIAL
#if PLAN_ROUTES
    if (s->station < 0) {
        int i;
        for (i = 0; i < FARTHING_OUTPUTS; ++i) out[i] = ROUTE_SCORES[SCORE_OF(s->node) * (FARTHING_OUTPUTS + 1) + 1 + i];
        return;
    }
#endif
    evaluate(s, s->station, out);
    read_out(s->station, out);
#else
    memcpy(out, s->outputs, sizeof s->outputs);
#endif
}
