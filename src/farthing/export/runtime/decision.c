/* The prediction so far. */

static void conclude(double *out, farthing_result *result)
{
#if PROGRAM_LABEL_CUT
    result->label = out[0] >= LABEL_CUT ? LABEL_ABOVE : LABEL_BELOW;
    apply_link(out);
#else
    apply_link(out);
    result->label = label_of(out);
#endif
    memcpy(result->value, out, sizeof result->value);
}

farthing_result farthing_decision(farthing_state *s)
{
    farthing_result result;
    double out[FARTHING_WIDEST];
    int i, looked = 0;
    memset(&result, 0, sizeof result);
    (void)farthing_next(s);
    for (i = 0; i < FARTHING_ITEMS; ++i) looked |= s->flags[i] & LOOKED;
    result.spent = spent_with_marked(s);
    if (!looked && PROGRAM_SETTLES) {
        memcpy(result.value, UNSEEN, sizeof result.value);
        result.label = UNSEEN_LABEL;
        return result;
    }
#if PLAN_HANDOVER
    if (s->stage == CALLED) {
        memcpy(result.value, s->answer, sizeof result.value);
        result.label = label_of(result.value);
        return result;
    }
#endif
    policy_output(s, out);
    conclude(out, &result);
    return result;
}
