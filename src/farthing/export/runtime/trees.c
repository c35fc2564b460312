/* One step down a tree: the node that a value leads to, or the same node if the row stays there. */

static int32_t step(const farthing_state *s, int32_t node)
{
    const int32_t item = FEATURE[node];
    const double x = s->flags[item] & HEARD ? s->value[item] : NAN;
    int way;
    if (x == x) {
#if TREE_SETS
        if (SET_BYTES[item]) {
            if (x >= 0.0 && x < 8.0 * SET_BYTES[item]) {
                const int32_t code = (int32_t)x;
                const uint8_t *set = SETS + TEST[node] + (code >> 3);
                if (set[0] >> (code & 7) & 1) return node + 1;
                if (set[SET_BYTES[item]] >> (code & 7) & 1) return node + SKIP[node];
            }
        } else
#endif
        {
#if TREE_SINGLE
            const double value = (double)(float)x;
#else
            const double value = x;
#endif
            return value TREE_COMPARES THRESHOLD[TEST[node]] ? node + 1 : node + SKIP[node];
        }
    }
    way = WAYS[node];
    way = s->flags[item] & REFUSED ? way >> 2 : way & 3;
    return way == 0 ? node + 1 : way == 1 ? node + SKIP[node] : node;
}

#if TREE_ADDS
static void add_scores(double *out, int32_t tree, int32_t node)
{
    int i;
    (void)tree;
    for (i = 0; i < TREE_WIDTH; ++i) {
        double *sum = &out[TREE_TARGET(tree) + i];
        *sum += SCORES[SCORE_OF(node) * TREE_WIDTH + i];
#if TREE_SINGLE_SUMS
        *sum = (double)(float)*sum;
#endif
    }
}
#endif
