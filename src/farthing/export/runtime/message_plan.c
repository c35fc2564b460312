/* The sum of messages: devices are asked in order. */

static void policy_start(farthing_state *s)
{
    memcpy(s->outputs, START, sizeof s->outputs);
    s->device = 0;
}

static int32_t policy_wants(farthing_state *s)
{
    return s->device < FARTHING_FEATURES ? s->device : -1;
}

static void policy_hear(farthing_state *s, int32_t item)
{
    int i;
    s->flags[item] |= HEARD;
    s->device = item + 1;
    if (!(s->flags[item] & OWNED)) return;
    for (i = 0; i < FARTHING_OUTPUTS; ++i) s->outputs[i] += s->answer[i];
}

static void policy_refuse(farthing_state *s, int32_t item)
{
    policy_hear(s, item);
}

static void policy_output(farthing_state *s, double *out)
{
    memcpy(out, s->outputs, sizeof s->outputs);
}
