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

#if PLAN_AT_ONCE
enum { TOGETHER = 8 };

#if TREE_SINGLE
#define TESTED(item) ((double)(float)s->value[item])
#else
#define TESTED(item) s->value[item]
#endif
/* Written out, since compilers for small machines do not unroll loops. */
#define DESCEND(i) { \
    const int32_t at = node[i], tested = FEATURE[at]; \
    const int32_t right = !(TESTED(tested) TREE_COMPARES THRESHOLD[TEST[at]]); \
    const int32_t go = 1 + ((SKIP[at] - 1) & -right); \
    seen[tested] = 1; \
    moved |= go; \
    node[i] = at + go; \
}

/* All questions of a new walk without a limit, from a row that has every value. Several trees go down in step, since
   each step waits for memory, and no jump depends on a value. The value of a leaf is NAN, which is not below any
   threshold, and its SKIP leads to itself. */
static void policy_take_all(farthing_state *s)
{
    uint8_t seen[FARTHING_ITEMS + 1];
    int32_t tree, item, node[TOGETHER];
    memset(seen, 0, sizeof seen);
    s->value[LEAF] = NAN;
    for (tree = 0; tree < TREES; tree += TOGETHER) {
        const int n = TREES - tree < TOGETHER ? TREES - tree : TOGETHER;
        int i, moved;
        for (i = 0; i < TOGETHER; ++i) node[i] = ROOTS[tree + (i < n ? i : 0)];
        do {
            moved = 0;
            DESCEND(0) DESCEND(1) DESCEND(2) DESCEND(3) DESCEND(4) DESCEND(5) DESCEND(6) DESCEND(7)
        } while (moved);
        for (i = 0; i < n; ++i) add_scores(s->outputs, tree + i, node[i]);
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
