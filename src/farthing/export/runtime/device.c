
int FARTHING_FUNCTION(const double *readings, double *message)
{
    double out[1 + FARTHING_NUMBERS];
    int i, j;
    for (j = 0; j <= FARTHING_NUMBERS; ++j) out[j] = INTERCEPT[j];
    for (i = 0; i < TERMS; ++i) {
        double x = readings[TERM_READING[i]];
        if (x - x != 0.0) continue;
        if (TERM_CATEGORY[i] == TERM_CATEGORY[i]) x = x == TERM_CATEGORY[i] ? 1.0 : 0.0;
        x = (x - TERM_MEAN[i]) / TERM_SCALE[i];
        for (j = 0; j <= FARTHING_NUMBERS; ++j) {
            const double part = x * TERM_COEF[i * (1 + FARTHING_NUMBERS) + j];
            out[j] += part;
        }
    }
    for (j = 0; j < FARTHING_NUMBERS; ++j) message[j] = out[1 + j];
    return out[0] > THRESHOLD;
}
