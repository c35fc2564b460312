/* Evaluations that are bought: a column is too expensive for a row that could not pay for the call as well. */

static int affords_both(farthing_state *s, int32_t item, int32_t call)
{
    mark(s, item);
    mark(s, call);
    return spent_with_marked(s) <= s->limit;
}
