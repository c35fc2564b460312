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

#if FARTHING_FAST
#define DESCEND(i) { \
    const uint32_t item = node[i]->item; \
    const uint32_t go = node[i]->go[x[item] TREE_COMPARES node[i]->test]; \
    seen[item] = 1; \
    moved |= go; \
    node[i] += go; \
}

/* All questions of a new walk without a limit, from a row that has every value. TOGETHER trees go down in step, since
   each step waits for memory, and no jump depends on a value. A leaf leads to itself, and has its score in place of a
   threshold. */
static void policy_take_all(farthing_state *s)
{
    double x[FARTHING_ITEMS + 1];
    uint8_t seen[FARTHING_ITEMS + 1];
    const fast_node *node[TOGETHER];
    int32_t tree, item;
    memset(seen, 0, sizeof seen);
    for (item = 0; item < FARTHING_ITEMS; ++item) {
#if TREE_SINGLE
        x[item] = (double)(float)s->value[item];
#else
        x[item] = s->value[item];
#endif
    }
    x[LEAF] = 0.0;
    for (tree = 0; tree < TREES; tree += TOGETHER) {
        const int n = TREES - tree < TOGETHER ? TREES - tree : TOGETHER;
        uint32_t moved;
        int i;
        for (i = 0; i < TOGETHER; ++i) node[i] = FAST + ROOTS[tree + (i < n ? i : 0)];
        do {
            moved = 0;
            FOR_ALL(DESCEND)
            moved = 0;
            FOR_ALL(DESCEND)
        } while (moved);
        for (i = 0; i < n; ++i) {
#if TREE_WIDTH == 1
            s->outputs[TREE_TARGET(tree + i)] += node[i]->test;
#if TREE_SINGLE_SUMS
            s->outputs[TREE_TARGET(tree + i)] = (double)(float)s->outputs[TREE_TARGET(tree + i)];
#endif
#else
            add_scores(s->outputs, tree + i, (int32_t)(node[i] - FAST));
#endif
        }
    }
    for (item = 0; item < FARTHING_ITEMS; ++item) {
        if (seen[item]) {
            buy(s, item);
            s->flags[item] |= ANSWERED | HEARD | LOOKED;
        } else {
            s->value[item] = 0.0;
        }
    }
    s->tree = TREES;
    s->node = ROOTS[TREES];
    s->asked = -1;
}
#endif
