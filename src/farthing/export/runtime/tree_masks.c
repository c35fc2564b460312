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

/* Rows of sets that are combined together. */
enum { ROWS_TOGETHER = 4, ROWS = (FARTHING_ITEMS + ROWS_TOGETHER - 1) / ROWS_TOGETHER * ROWS_TOGETHER };

static void reach(const double *x, leaf_set *reached)
{
    const leaf_set *rows[ROWS];
    int32_t blocks[FARTHING_ITEMS], item, i;
    for (item = 0; item < FARTHING_ITEMS; ++item) {
        const double *cuts = CUTS + CUTS_BEGIN[item];
        int32_t block = 0, step;
        for (step = STEPS[item]; step; step >>= 1) {
            block += step & -(int32_t)(x[item] TREE_EXCEEDS cuts[block + step - 1]);
        }
        blocks[item] = BLOCKS_BEGIN[item] + block;
        rows[item] = REACHED[blocks[item]];
    }
    for (; item < ROWS; ++item) rows[item] = rows[0];
    memset(reached, 0xff, SETS_OF_ROW * sizeof *reached);
    for (item = 0; item < ROWS; item += ROWS_TOGETHER) {
        const leaf_set *a = rows[item], *b = rows[item + 1], *c = rows[item + 2], *d = rows[item + 3];
        for (i = 0; i < SETS_OF_ROW; ++i) reached[i] &= (leaf_set)(a[i] & b[i] & c[i] & d[i]);
    }
#if MASKS_WALK
    for (item = 0; item < FARTHING_ITEMS; ++item) {
        const double value = x[item];
        const masking_node *node = MASKING + MIDDLES[blocks[item]];
        for (; value TREE_EXCEEDS node->threshold; ++node) reached[node->tree] &= node->rest;
        for (node = MASKING + MIDDLES[blocks[item]] - 1; value TREE_COMPARES node->threshold; --node) {
            reached[node->tree] &= node->rest;
        }
    }
#endif
}
