// candidate_ranking
#pragma once

#include "common/views.hpp"

namespace farthing {

enum class CostRule { penalty, ratio };

// One way to split a node, as the choice among them sees it. `charge` is what the penalty multiplies: the unpaid
// price under the model ledger, the unpaid price times the share of rows that pay it under the row ledger.
struct Candidate {
    double gain = 0;
    double charge = 0;
    double list_price = 0;
    index_t feature = -1;
};

struct CandidateRanking {
    CostRule rule = CostRule::penalty;
    double tradeoff = 0;

    // The price as it is weighed: with a trade-off of zero it counts for nothing, not even between equals.
    double weighed_price(const Candidate& a) const {
        return rule == CostRule::ratio ? a.list_price : tradeoff * a.charge;
    }

    double net(const Candidate& a) const { return a.gain - tradeoff * a.charge; }

    bool acceptable(const Candidate& a) const {
        return a.feature >= 0 && (rule == CostRule::ratio ? a.gain > 0 : net(a) > 0);
    }

    // Penalty: the larger net gain. Ratio: the smaller price per gain, compared by cross-multiplication. Ties go to
    // the larger gain, then the lower price, then the earlier column.
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
