/* A weighted vote of two classes: columns in a fixed order, until the sign of the sum is certain. */

static void policy_start(farthing_state *s)
{
    int32_t tree;
    s->low = START_LOW;
    s->high = START_HIGH;
    for (tree = 0; tree < TREES; ++tree) {
        s->nodes[tree] = ROOTS[tree];
        if (FEATURE[ROOTS[tree]] == LEAF) {
            s->outputs[0] += SCORES[SCORE_OF(ROOTS[tree])];
            s->nodes[tree] = FINISHED;
        }
    }
}

static int32_t policy_wants(farthing_state *s)
{
    int32_t tree, place = -1;
    if (s->low > 0.0 || s->high <= 0.0) return -1;
    for (tree = 0; tree < TREES; ++tree) {
        if (s->nodes[tree] != FINISHED) {
            const int32_t own = POSITION[FEATURE[s->nodes[tree]]];
            if (place < 0 || own < place) place = own;
        }
    }
    if (place < 0) return -1;
#if PLAN_STOPS
    if (s->outputs[0] <= STOP_LOW[place] || s->outputs[0] > STOP_HIGH[place]) return -1;
#endif
    return ORDER[place];
}

static void advance(farthing_state *s, int32_t tree)
{
    int32_t node = (int32_t)s->nodes[tree];
    while (FEATURE[node] != LEAF) {
        int32_t next;
        if (!(s->flags[FEATURE[node]] & HEARD)) {
            s->nodes[tree] = (farthing_node)node;
            s->low += BOUNDS[2 * node];
            s->high += BOUNDS[2 * node + 1];
            return;
        }
        next = step(s, node);
        if (next == node) break;
        node = next;
    }
    s->nodes[tree] = FINISHED;
    s->outputs[0] += SCORES[SCORE_OF(node)];
    s->low += SCORES[SCORE_OF(node)];
    s->high += SCORES[SCORE_OF(node)];
}

static void policy_hear(farthing_state *s, int32_t item)
{
    const int32_t place = POSITION[item];
    int32_t tree;
    s->flags[item] |= HEARD;
    s->low -= SHARED_LOW[place];
    s->high -= SHARED_HIGH[place];
    for (tree = 0; tree < TREES; ++tree) {
        const farthing_node node = s->nodes[tree];
        if (node == FINISHED || FEATURE[node] != item) continue;
        if (!STUMP[tree]) {
            s->low -= BOUNDS[2 * node];
            s->high -= BOUNDS[2 * node + 1];
        }
        advance(s, tree);
    }
}

static void policy_refuse(farthing_state *s, int32_t item)
{
    policy_hear(s, item);
}

static void policy_output(farthing_state *s, double *out)
{
    out[0] = s->outputs[0];
}
