/* Learners from the top of a list, without those that the budget cannot afford. */

static void begin_choice(farthing_state *s) { (void)s; }

#if CURTAIL
/* Whether votes that move every sum by at most `reach` cannot change the label. */
static int is_certain(const farthing_state *s, double reach)
{
#if FARTHING_OUTPUTS == 1
    return s->outputs[0] > reach || s->outputs[0] <= -reach;
#else
    int first = 0, i;
    for (i = 1; i < K; ++i) if (s->outputs[i] > s->outputs[first]) first = i;
    for (i = 0; i < K; ++i) {
        const double lead = s->outputs[first] - s->outputs[i] - 2 * reach;
        if ((i < first && !(lead > 0.0)) || (i > first && !(lead >= 0.0))) return 0;
    }
    return 1;
#endif
}
#endif

static int32_t next_learner(farthing_state *s)
{
    while (s->place < LEARNERS && s->samples < MAX_SAMPLES) {
        const int32_t learner = ORDER[s->place];
#if CURTAIL
        if (s->has_read && is_certain(s, REACH[s->place])) return NOBODY;
#endif
#if PLAN_STOPS
        if (s->has_read && (s->outputs[0] <= STOP_LOW[s->place] || s->outputs[0] > STOP_HIGH[s->place])) return NOBODY;
#endif
        s->place += 1;
        mark_learner(s, learner);
        if (spent_with_marked(s) <= s->limit) return learner;
    }
    return NOBODY;
}

static void count_vote(farthing_state *s, const double *vote)
{
    int i;
    for (i = 0; i < K; ++i) s->outputs[i] += vote[i];
    s->samples += 1;
}

static void total_vote(const farthing_state *s, double *out)
{
    memcpy(out, s->outputs, sizeof s->outputs);
}
