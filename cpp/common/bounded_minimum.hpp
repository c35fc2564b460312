// bounded_minimum: the least value of a function of one number between two bounds, by Brent's method.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

namespace farthing {

// Steps of golden section, and of a parabola through the three best points where that is safe. The steps are those of
// scipy.optimize.minimize_scalar(method="bounded"), so both give the same bits.
// IN  tolerance: how close to a minimum.   Returns where the function is least.
template <class Function>
double bounded_minimum(const Function& function, double low, double high, double tolerance) {
    constexpr int kMostCalls = 500;
    const double root = std::sqrt(2.2e-16);
    const double golden = 0.5 * (3.0 - std::sqrt(5.0));
    double best = low + golden * (high - low);  // the best point, the one before it, and the one before that
    double second = best;
    double third = best;
    double at_best = function(best);
    double at_second = at_best;
    double at_third = at_best;
    double step = 0;
    double before = 0;  // the step before the last one
    for (int calls = 1; calls < kMostCalls; ++calls) {
        const double middle = 0.5 * (low + high);
        const double least = root * std::fabs(best) + tolerance / 3.0;
        const double twice = 2.0 * least;
        if (!(std::fabs(best - middle) > twice - 0.5 * (high - low))) break;
        bool parabolic = false;
        if (std::fabs(before) > least) {
            const double r = (best - second) * (at_best - at_third);
            double q = (best - third) * (at_best - at_second);
            double p = (best - third) * q - (best - second) * r;
            q = 2.0 * (q - r);
            if (q > 0) p = -p;
            q = std::fabs(q);
            const double earlier = std::exchange(before, step);
            parabolic = std::fabs(p) < std::fabs(0.5 * q * earlier) && p > q * (low - best) && p < q * (high - best);
            if (parabolic) {
                step = p / q;
                const double next = best + step;
                if (next - low < twice || high - next < twice) step = middle >= best ? least : -least;
            }
        }
        if (!parabolic) {
            before = best >= middle ? low - best : high - best;
            step = golden * before;
        }
        const double size = std::max(std::fabs(step), least);
        const double next = best + (step >= 0 ? size : -size);
        const double at_next = function(next);
        if (at_next <= at_best) {
            (next >= best ? low : high) = best;
            third = std::exchange(second, std::exchange(best, next));
            at_third = std::exchange(at_second, std::exchange(at_best, at_next));
        } else {
            (next < best ? low : high) = next;
            if (at_next <= at_second || second == best) {
                third = std::exchange(second, next);
                at_third = std::exchange(at_second, at_next);
            } else if (at_next <= at_third || third == best || third == second) {
                third = next;
                at_third = at_next;
            }
        }
    }
    return best;
}

}  // namespace farthing
