/* A weighted vote of several classes: columns in a fixed order, until the winner is certain. */

enum { K = FARTHING_OUTPUTS };

static void policy_start(farthing_state *s)
{
    int32_t tree;
    memcpy(s->lead, START_LEAD, sizeof s->lead);
    memcpy(s->outputs, START_SUM, sizeof s->outputs);
    for (tree = 0; tree < TREES; ++tree) {
        s->nodes[tree] = FEATURE[ROOTS[tree]] == LEAF ? FINISHED : ROOTS[tree];
    }
}

static int is_decided(const farthing_state *s)
{
    int first = 0, i;
    for (i = 1; i < K; ++i) {
        if (s->outputs[i] > s->outputs[first]) first = i;
    }
    for (i = 0; i < K; ++i) {
        if (i < first && !(s->lead[first * K + i] > 0.0)) return 0;
        if (i > first && !(s->lead[first * K + i] >= 0.0)) return 0;
    }
    return 1;
}

static int32_t policy_wants(farthing_state *s)
{
    int32_t tree, place = -1;
    for (tree = 0; tree < TREES; ++tree) {
        if (s->nodes[tree] != FINISHED) {
            const int32_t own = POSITION[FEATURE[s->nodes[tree]]];
            if (place < 0 || own < place) place = own;
        }
    }
    return place < 0 || is_decided(s) ? -1 : ORDER[place];
}

static void add_bounds(farthing_state *s, int32_t tree, int32_t node, double sign)
{
    const double weight = sign * WEIGHTS[tree];
    int i;
    for (i = 0; i < K * K; ++i) s->lead[i] += weight * NODE_LEAD[node * (K * K) + i];
    for (i = 0; i < K; ++i) s->outputs[i] += weight * NODE_SUM[node * K + i];
}

static void advance(farthing_state *s, int32_t tree)
{
    const double_table *votes;
    int32_t node = (int32_t)s->nodes[tree];
    int i, j;
    while (FEATURE[node] != LEAF) {
        int32_t next;
        if (!(s->flags[FEATURE[node]] & HEARD)) {
            s->nodes[tree] = (farthing_node)node;
            add_bounds(s, tree, node, 1.0);
            return;
        }
        next = step(s, node);
        if (next == node) break;
        node = next;
    }
    s->nodes[tree] = FINISHED;
    votes = SCORES + SCORE_OF(node) * K;
    for (i = 0; i < K; ++i) {
        for (j = 0; j < K; ++j) s->lead[i * K + j] += (double)votes[i] - (double)votes[j];
        s->outputs[i] += 2 * (double)votes[i];
    }
}

static void policy_hear(farthing_state *s, int32_t item)
{
    const int32_t place = POSITION[item];
    int32_t tree;
    int i;
    s->flags[item] |= HEARD;
    for (i = 0; i < K * K; ++i) s->lead[i] -= SHARED_LEAD[place * (K * K) + i];
    for (i = 0; i < K; ++i) s->outputs[i] -= SHARED_SUM[place * K + i];
    for (tree = 0; tree < TREES; ++tree) {
        const farthing_node node = s->nodes[tree];
        if (node == FINISHED || FEATURE[node] != item) continue;
        if (!STUMP[tree]) add_bounds(s, tree, (int32_t)node, -1.0);
        advance(s, tree);
    }
}

static void policy_refuse(farthing_state *s, int32_t item)
{
    policy_hear(s, item);
}

static void policy_output(farthing_state *s, double *out)
{
    int i;
    for (i = 0; i < K; ++i) out[i] = s->outputs[i] / 2;
}
