/* Random numbers without a state: draw n of a key is a function of both (SplitMix64, twice). */

static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

static uint64_t random_bits(uint64_t key, uint64_t counter)
{
    return mix(mix(key + 0x9e3779b97f4a7c15ULL) + (counter + 1) * 0x9e3779b97f4a7c15ULL);
}

/* The key of the next draw: the seed's, with the bits of each purchase. */
static uint64_t draw_key(const farthing_state *s)
{
    uint64_t key = s->seed_key;
    int i;
    for (i = 0; i < FARTHING_FEATURES; ++i) if (s->flags[i] & BOUGHT) key ^= PURCHASE[i];
    return key;
}

void farthing_seed(farthing_state *s, uint64_t seed)
{
    s->seed_key = random_bits(0x6661727468696e67ULL, seed);
}
