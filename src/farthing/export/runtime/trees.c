/* The node after a node and all that are below it, which are next to it. */
#if TREE_MEANS || !TREE_SKIPS
static int32_t subtree_end(int32_t node)
{
    int32_t open;
    for (open = 1; open; ++node) open += FEATURE[node] == LEAF ? -1 : 1;
    return node;
}
#endif

#if TREE_SKIPS
#define RIGHT_OF(node) ((node) + SKIP[node])
#else
#define RIGHT_OF(node) subtree_end((node) + 1)
#endif

/* One step down a tree: the node that a value leads to, or the same node if the row stays there. */

#if TREE_ONE_MISSING
#define MISSED_WAY(node) MISSING_WAY
#define REFUSED_WAY(node) (WAYS[(node) >> 3] >> ((node) & 7) & 1)
#elif TREE_SAME_WAYS
#define MISSED_WAY(node) (WAYS[(node) >> 3] >> ((node) & 7) & 1)
#define REFUSED_WAY(node) MISSED_WAY(node)
#else
#define MISSED_WAY(node) (WAYS[(node) >> 1] >> 4 * ((node) & 1) & 3)
#define REFUSED_WAY(node) (WAYS[(node) >> 1] >> 4 * ((node) & 1) >> 2 & 3)
#endif

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
                if (set[SET_BYTES[item]] >> (code & 7) & 1) return RIGHT_OF(node);
            }
        } else
#endif
        {
#if TREE_SINGLE
            const double value = (double)(float)x;
#else
            const double value = x;
#endif
            return value TREE_COMPARES THRESHOLD[TEST[node]] ? node + 1 : RIGHT_OF(node);
        }
    }
    way = s->flags[item] & REFUSED ? REFUSED_WAY(node) : MISSED_WAY(node);
    return way == 0 ? node + 1 : way == 1 ? RIGHT_OF(node) : node;
}

#if TREE_MEANS
/* The scores of a node. Those of an inner node are the mean of its children's, weighted by training rows: its nodes
   are taken from the last one back, and what is known of children waits on a stack. */
static void node_scores(int32_t node, double *scores)
{
    double stack[TREE_HEIGHT + 1][TREE_WIDTH];
    int32_t rows[TREE_HEIGHT + 1], end = subtree_end(node);
    int i, n = 0;
    while (end-- > node) {
        if (FEATURE[end] == LEAF) {
#if TREE_COUNTS
            rows[n] = 0;
            for (i = 0; i < TREE_WIDTH; ++i) rows[n] += SCORES[TEST[end] * TREE_WIDTH + i];
            for (i = 0; i < TREE_WIDTH; ++i) stack[n][i] = (double)SCORES[TEST[end] * TREE_WIDTH + i] / (double)rows[n];
#else
            rows[n] = COVER[TEST[end]];
            for (i = 0; i < TREE_WIDTH; ++i) stack[n][i] = SCORES[TEST[end] * TREE_WIDTH + i];
#endif
            ++n;
        } else {
            const int32_t total = rows[n - 1] + rows[n - 2];
            const double left = (double)rows[n - 1] / (double)total, right = (double)rows[n - 2] / (double)total;
            --n;
            for (i = 0; i < TREE_WIDTH; ++i) {
                const double from_left = left * stack[n][i], from_right = right * stack[n - 1][i];
                stack[n - 1][i] = from_left + from_right;
            }
            rows[n - 1] = total;
        }
    }
    memcpy(scores, stack[0], sizeof stack[0]);
}
#endif

#if TREE_ADDS
static void add_scores(double *out, int32_t tree, int32_t node)
{
    int i;
#if TREE_MEANS
    double scores[TREE_WIDTH];
    node_scores(node, scores);
#define NODE_SCORE(i) scores[i]
#else
#define NODE_SCORE(i) SCORES[SCORE_OF(node) * TREE_WIDTH + (i)]
#endif
    (void)tree;
    for (i = 0; i < TREE_WIDTH; ++i) {
        double *sum = &out[TREE_TARGET(tree) + i];
        *sum += NODE_SCORE(i);
#if TREE_SINGLE_SUMS
        *sum = (double)(float)*sum;
#endif
    }
}
#endif
