/* The trees of a row at hand, as sets of leaves that it may still reach, one bit for each leaf of a tree.

   The nodes that test a feature stand in the order of their thresholds, with NAN, which no value exceeds or falls
   below, before and after them. A row starts from the one in the middle and goes up or down until its value stops it.
   Each node on the way takes one of its sides away: the left one on the way up, the right one on the way down. Leaves
   are numbered so that this side comes first in its node; then the first leaf that is left is the row's. */

#if defined(__GNUC__) && !defined(FARTHING_PORTABLE)
#define FIRST_BIT(bits) (sizeof(bits) > 4 ? __builtin_ctzll(bits) : __builtin_ctz((uint32_t)(bits)))
#else
static int first_bit(uint64_t bits)
{
    int place = 0, half;
    for (half = 32; half; half /= 2) {
        if (!(bits & (((uint64_t)1 << half) - 1))) {
            bits >>= half;
            place += half;
        }
    }
    return place;
}
#define FIRST_BIT(bits) first_bit(bits)
#endif

static void fast_trees(const double *x, double *out, uint32_t *seen)
{
    leaf_set reached[TREES];
    int32_t item, tree;
    int i;
    memset(reached, 0xff, sizeof reached);
    for (item = 0; item < FARTHING_ITEMS; ++item) {
        const double value = x[item];
        const masking_node *node = MASKING + MIDDLE[item];
        for (; value TREE_EXCEEDS node->threshold; ++node) reached[node->tree] &= node->rest;
        for (node = MASKING + MIDDLE[item] - 1; value TREE_COMPARES node->threshold; --node) {
            reached[node->tree] &= node->rest;
        }
    }
    for (tree = 0; tree < TREES; ++tree) {
        const masked_leaf *leaf = LEAVES + LEAVES_BEGIN[tree] + FIRST_BIT(reached[tree]);
        for (i = 0; i < TREE_WIDTH; ++i) {
            double *sum = &out[TREE_TARGET(tree) + i];
            *sum += leaf->scores[i];
#if TREE_SINGLE_SUMS
            *sum = (double)(float)*sum;
#endif
        }
        for (i = 0; i < FARTHING_WORDS; ++i) seen[i] |= leaf->seen[i];
    }
}
