/* Trees in order, in blocks: between two blocks a row may end, and the evaluation of a block may have a price. */

static void policy_start(farthing_state *s)
{
#if PLAN_CALLS
    s->heard = -1;
    s->call = CALLS[0];
#else
    (void)s;
#endif
}

static int32_t policy_wants(farthing_state *s)
{
#if PLAN_CALLS
    if (s->heard >= 0 && (s->flags[s->heard] & OWNED)) s->looked = 1;
#endif
    for (;;) {
#if PLAN_CALLS
        if (s->stopped) return -1;
        if (s->looked && s->call >= 0) return s->call;
#endif
        while (s->tree < ENDS[s->block]) {
            if (FEATURE[s->node] != LEAF) {
                const int32_t item = FEATURE[s->node];
                int32_t next;
                if (!(s->flags[item] & HEARD)) {
#if PLAN_CALLS
                    if (s->call >= 0 && !affords_both(s, item, s->call)) {
                        s->value[item] = NAN;
                        s->flags[item] |= HEARD;
                        continue;
                    }
#endif
                    return item;
                }
                next = step(s, s->node);
                if (next != s->node) {
                    s->node = next;
                    continue;
                }
            }
            add_scores(s->outputs, s->tree, s->node);
            s->tree += 1;
            s->node = ROOTS[s->tree];
        }
#if PLAN_BLOCKS > 1
        if (s->block == PLAN_BLOCKS - 1 || ends_here(s->outputs, 0)) return -1;
        s->block += 1;
#if PLAN_CALLS
        s->call = CALLS[s->block];
#endif
#else
        return -1;
#endif
    }
}

static void policy_hear(farthing_state *s, int32_t item)
{
#if PLAN_CALLS
    if (item == s->call) {
        s->call = -1;
        s->stopped = s->value[item] != s->value[item];
        return;
    }
    s->heard = item;
#endif
    s->flags[item] |= HEARD;
}

static void policy_refuse(farthing_state *s, int32_t item)
{
    s->flags[item] |= HEARD;
}

static void policy_output(farthing_state *s, double *out)
{
    int32_t tree;
    memcpy(out, s->outputs, sizeof s->outputs);
#if PLAN_CALLS
    if (s->stopped) return;
#endif
    for (tree = s->tree; tree < ENDS[s->block]; ++tree) add_scores(out, tree, tree == s->tree ? s->node : ROOTS[tree]);
}
