/* A model outside the walk answers for the rows that the gate sends on: its call is the last question. */

enum { AT_GATE = 0, SENT = 1, KEPT = 2, CALLED = 3 };

static int has_read(const farthing_state *s)
{
    int i, read = 0;
    for (i = 0; i < FARTHING_FEATURES; ++i) read |= (s->flags[i] & (HEARD | OWNED)) == (HEARD | OWNED);
    return read;
}

static int32_t handover_wants(farthing_state *s)
{
    if (s->stage == AT_GATE) {
        double out[FARTHING_OUTPUTS];
        int i;
        policy_output(s, out);
        s->stage = KEPT;
        if (out[0] > HANDOVER_THRESHOLD) {
            for (i = 0; i < HANDOVER_READS; ++i) mark(s, READS[i]);
            mark(s, HANDOVER);
            if (spent_with_marked(s) <= s->limit) s->stage = SENT;
        }
        s->place = 0;
    }
    if (s->stage != SENT) return -1;
    while (s->place < HANDOVER_READS && (s->flags[READS[s->place]] & HEARD)) s->place += 1;
    if (s->place < HANDOVER_READS) return READS[s->place];
    return HANDOVER_READS == 0 || has_read(s) ? HANDOVER : -1;
}

static void handover_hear(farthing_state *s, int32_t item)
{
    s->flags[item] |= HEARD;
    if (item == HANDOVER) s->stage = s->flags[item] & REFUSED ? KEPT : CALLED;
}
