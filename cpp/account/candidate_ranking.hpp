// candidate_ranking: weighs the gain of a candidate (a split, or a feature to acquire) against its price.
#pragma once

#include <algorithm>
#include <limits>

#include "common/views.hpp"

namespace farthing {

enum class CostRule { penalty, ratio };

// `charge` is what the penalty multiplies: the unpaid price under the model ledger; the unpaid price times the share
// of rows that pay it under the row ledger. `list_price` is the price with nothing owned, which the ratio rule uses.
struct Candidate {
    double gain = 0;
    double charge = 0;
    double list_price = 0;
    index_t feature = -1;
};

struct CandidateRanking {
    CostRule rule = CostRule::penalty;
    double tradeoff = 0;

    // The price as it enters the comparison. With a trade-off of zero it is zero too, so it does not even break ties.
    double weighed_price(const Candidate& a) const {
        return rule == CostRule::ratio ? a.list_price : tradeoff * a.charge;
    }

    double net(const Candidate& a) const { return a.gain - tradeoff * a.charge; }

    bool acceptable(const Candidate& a) const {
        return a.feature >= 0 && (rule == CostRule::ratio ? a.gain > 0 : net(a) > 0);
    }

    // The gain, up to rounding, from which on a candidate at the prices of `a` can be acceptable and better than `best`;
    // a cheap bound on its gain may then spare the gain itself.
    double least_gain(const Candidate& a, const Candidate& best) const {
        if (rule == CostRule::penalty) {
            return tradeoff * a.charge + (best.feature >= 0 ? std::max(net(best), 0.0) : 0.0);
        }
        if (best.feature < 0) return 0;
        if (best.list_price > 0) return a.list_price * best.gain / best.list_price;
        return a.list_price > 0 ? std::numeric_limits<double>::infinity() : best.gain;
    }

    // A strict order. Penalty: the larger net gain wins. Ratio: the smaller price per gain wins, compared by
    // cross-multiplication so that prices of zero need no special case. Ties go to the larger gain, then the lower
    // price, then the earlier column.
    bool better(const Candidate& a, const Candidate& b) const {
        if (a.feature < 0 || b.feature < 0) return b.feature < 0 && a.feature >= 0;
        const bool ratio = rule == CostRule::ratio;
        const double left = ratio ? b.list_price * a.gain : net(a);
        const double right = ratio ? a.list_price * b.gain : net(b);
        if (left != right) return left > right;
        if (a.gain != b.gain) return a.gain > b.gain;
        if (weighed_price(a) != weighed_price(b)) return weighed_price(a) < weighed_price(b);
        return a.feature < b.feature;
    }
};

}  // namespace farthing
