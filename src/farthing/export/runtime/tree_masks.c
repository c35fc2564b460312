/* The trees of a row at hand, as sets of leaves that it may still reach, one bit for each leaf of a tree.

   The thresholds of each feature are cut into blocks. A search without jumps finds the block of a value, whose sets
   say for all trees at once which leaves the thresholds outside the block leave. Within a block the row starts from the
   node in the middle and goes up or down until its value stops it: each node on the way takes one of its sides away, the
   left one on the way up, the right one on the way down. Leaves are numbered so that this side comes first in its
   node; then the first leaf that is left is the row's. */

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

static void reach(const double *x, leaf_set *reached)
{
    int32_t item, i;
    memset(reached, 0xff, SETS_OF_ROW * sizeof *reached);
    for (item = 0; item < FARTHING_ITEMS; ++item) {
        const double value = x[item], *cuts = CUTS + CUTS_BEGIN[item];
        const leaf_set *row;
        int32_t block = 0, step;
        for (step = STEPS[item]; step; step >>= 1) block += step & -(int32_t)(value TREE_EXCEEDS cuts[block + step - 1]);
        block += BLOCKS_BEGIN[item];
        row = REACHED[block];
        for (i = 0; i < SETS_OF_ROW; ++i) reached[i] &= row[i];
#if MASKS_WALK
        {
            const masking_node *node = MASKING + MIDDLES[block];
            for (; value TREE_EXCEEDS node->threshold; ++node) reached[node->tree] &= node->rest;
            for (node = MASKING + MIDDLES[block] - 1; value TREE_COMPARES node->threshold; --node) {
                reached[node->tree] &= node->rest;
            }
        }
#endif
    }
}
