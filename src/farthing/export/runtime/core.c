/* What a walk owns, has paid and has been told. */

enum { OWNED = 1, BOUGHT = 2, ANSWERED = 4, HEARD = 8, REFUSED = 16, LOOKED = 32, KNOWN = 64, MARKED = 128 };
enum { PAID = 1, PAID_HERE = 2, DUE = 4 };
/* What was asked: nothing yet after the last answer, or nothing at all since the start. */
enum { NOT_YET = -2, UNTOUCHED = -3 };

static int32_t policy_wants(farthing_state *s);
static void policy_hear(farthing_state *s, int32_t item);
static void policy_refuse(farthing_state *s, int32_t item);
static void policy_start(farthing_state *s);
static void policy_output(farthing_state *s, double *out);
#if FARTHING_FAST
static int is_whole(const double *values);
static void policy_take_all(farthing_state *s, const double *values);
#endif
#if PLAN_HANDOVER
static int32_t handover_wants(farthing_state *s);
static void handover_hear(farthing_state *s, int32_t item);
#endif

/* Whether the answer to a question is a list of numbers: a message, or the probabilities of another model. */
#if PLAN_HANDOVER
#define IS_LIST(item) ((item) == HANDOVER)
#elif defined(FARTHING_ANSWER)
#define IS_LIST(item) 1
#else
#define IS_LIST(item) 0
#endif

static void mark(farthing_state *s, int32_t item)
{
    if (!(s->flags[item] & OWNED)) {
        s->flags[item] |= MARKED;
#if FARTHING_GROUPS > 0
        if (GROUP_OF[item] >= 0 && !(s->groups[GROUP_OF[item]] & PAID)) s->groups[GROUP_OF[item]] |= DUE;
#endif
    }
}

/* The spend with all marked items, added in the order of the cost sheet; the marks are taken away. */
static double spent_with_marked(farthing_state *s)
{
    spend sum = 0;
    int i;
    for (i = 0; i < FARTHING_ITEMS; ++i) {
        if (s->flags[i] & (BOUGHT | MARKED)) sum += OWN[i];
        s->flags[i] &= (uint8_t)~MARKED;
    }
#if FARTHING_GROUPS > 0
    for (i = 0; i < FARTHING_GROUPS; ++i) {
        if (s->groups[i] & (PAID_HERE | DUE)) sum += SHARED[i];
        s->groups[i] &= (uint8_t)~DUE;
    }
#endif
    return sum;
}

static int affords(farthing_state *s, int32_t item)
{
    if (s->limit == HUGE_VAL) return 1;
    mark(s, item);
    return spent_with_marked(s) <= s->limit;
}

static void buy(farthing_state *s, int32_t item)
{
    if (s->flags[item] & OWNED) return;
    s->flags[item] |= OWNED | BOUGHT;
#if FARTHING_GROUPS > 0
    if (GROUP_OF[item] >= 0) {
        uint8_t *group = &s->groups[GROUP_OF[item]];
        if (!(*group & PAID)) *group |= PAID | PAID_HERE;
    }
#endif
}

static void pass_on(farthing_state *s, int32_t item)
{
#if PLAN_HANDOVER
    if (s->stage) {
        handover_hear(s, item);
        return;
    }
#endif
    if (s->flags[item] & REFUSED) policy_refuse(s, item);
    else policy_hear(s, item);
}

static int32_t wanted(farthing_state *s)
{
    const int32_t item = policy_wants(s);
#if PLAN_HANDOVER
    if (item < 0) return handover_wants(s);
#endif
    return item;
}

void farthing_start(farthing_state *s, double budget)
{
    memset(s, 0, sizeof *s);
    s->limit = budget * (1 + 1e-12);
    s->asked = UNTOUCHED;
#if DRAWN_UNITS
    s->budget = budget;
#endif
    policy_start(s);
}

int farthing_known(farthing_state *s, int32_t feature, double value)
{
    if (s->asked > NOT_YET || feature < 0 || feature >= FARTHING_FEATURES || IS_LIST(feature)) return -1;
    s->flags[feature] |= OWNED | KNOWN | ANSWERED;
    s->value[feature] = value;
    s->asked = NOT_YET;
#if FARTHING_GROUPS > 0
    if (GROUP_OF[feature] >= 0) s->groups[GROUP_OF[feature]] |= PAID;
#endif
    return 0;
}

int32_t farthing_next(farthing_state *s)
{
    int32_t item;
    if (s->asked > NOT_YET) return s->asked;
    while ((item = wanted(s)) >= 0) {
        if (!(s->flags[item] & ANSWERED)) {
            if (affords(s, item)) {
#if FARTHING_ITEMS > FARTHING_FEATURES
                if (item < FARTHING_FEATURES) break;
                buy(s, item);
                s->flags[item] |= LOOKED;
                s->value[item] = 1.0;
#else
                break;
#endif
            } else {
                s->value[item] = NAN;
            }
            s->flags[item] |= ANSWERED;
        } else if (s->flags[item] & KNOWN) {
            s->flags[item] |= LOOKED;
        }
        pass_on(s, item);
    }
    s->asked = item;
    return item;
}

double farthing_price(farthing_state *s)
{
    const int32_t item = farthing_next(s);
    if (item < 0 || (s->flags[item] & OWNED)) return 0.0;
#if FARTHING_GROUPS > 0
    /* Tables of prices may be of floats, whose sum would be rounded to one. */
    if (GROUP_OF[item] >= 0 && !(s->groups[GROUP_OF[item]] & PAID)) return (double)OWN[item] + SHARED[GROUP_OF[item]];
#endif
    return OWN[item];
}

#ifdef FARTHING_ANSWER
int farthing_tell_list(farthing_state *s, const double *numbers)
{
    const int32_t item = farthing_next(s);
    if (item < 0 || !IS_LIST(item)) return -1;
    buy(s, item);
    s->flags[item] |= LOOKED | ANSWERED;
    memcpy(s->answer, numbers, sizeof s->answer);
    s->asked = NOT_YET;
    pass_on(s, item);
    return 0;
}
#endif

int farthing_tell(farthing_state *s, double value)
{
    const int32_t item = farthing_next(s);
    if (item < 0 || IS_LIST(item)) return -1;
    buy(s, item);
    s->flags[item] |= LOOKED | ANSWERED;
    s->value[item] = value;
    s->asked = NOT_YET;
    pass_on(s, item);
    return 0;
}

int farthing_refuse(farthing_state *s)
{
    const int32_t item = farthing_next(s);
    if (item < 0) return -1;
    s->flags[item] |= REFUSED | ANSWERED;
    s->value[item] = NAN;
    s->asked = NOT_YET;
    pass_on(s, item);
    return 0;
}

void farthing_tell_all(farthing_state *s, const double *values)
{
    int32_t item;
#if FARTHING_FAST
    if (s->asked == UNTOUCHED && s->limit == HUGE_VAL && is_whole(values)) {
        policy_take_all(s, values);
        return;
    }
#endif
    while ((item = farthing_next(s)) >= 0 && !IS_LIST(item)) farthing_tell(s, values[item]);
}

int farthing_acquired(const farthing_state *s, int32_t feature)
{
    return feature >= 0 && feature < FARTHING_ITEMS && (s->flags[feature] & BOUGHT) != 0;
}
