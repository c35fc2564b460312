// lambda_gradients: the gradients of LambdaMART. Each pair of documents of one query with different grades
// contributes the logistic loss of its score difference, times the change of NDCG if the two were swapped (Burges
// 2010, section 7).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <vector>

#include "common/threads.hpp"
#include "common/views.hpp"

namespace farthing {

// Pairs with both documents ranked below this are left out: swapping them changes little.
constexpr index_t kMaxPairRank = 30;

// IN  documents (n,): rows, query by query; bounds (queries + 1,): where each query begins; grades, scores (n,): by
// row.
// OUT gradients (negative), hessians, losses (n,): by row; the loss of a pair is assigned to its better document.
inline void lambda_gradients(Span<const index_t> documents, Span<const index_t> bounds, Span<const double> grades,
                             Span<const double> scores, double* gradients, double* hessians, double* losses,
                             int n_threads) {
    const index_t n_queries = bounds.size - 1;
    std::fill(gradients, gradients + grades.size, 0.0);
    std::fill(hessians, hessians + grades.size, 0.0);
    std::fill(losses, losses + grades.size, 0.0);
    parallel_for(n_queries, threads_for(n_threads, n_queries), 16, [&](index_t query) {
        std::vector<index_t> ranked(documents.data + bounds[query], documents.data + bounds[query + 1]);
        const auto n = static_cast<index_t>(ranked.size());
        std::vector<double> best;
        for (const index_t row : ranked) best.push_back(std::exp2(grades[row]) - 1);
        std::sort(best.begin(), best.end(), std::greater<>());
        double ideal = 0;
        for (index_t i = 0; i < n; ++i) ideal += best[i] / std::log2(static_cast<double>(i) + 2);
        if (!(ideal > 0)) return;
        std::stable_sort(ranked.begin(), ranked.end(), [&](index_t a, index_t b) { return scores[a] > scores[b]; });
        std::vector<double> discount(static_cast<std::size_t>(n));
        for (index_t i = 0; i < n; ++i) discount[i] = 1 / std::log2(static_cast<double>(i) + 2);
        for (index_t i = 0; i < std::min(n, kMaxPairRank); ++i) {
            for (index_t j = i + 1; j < n; ++j) {
                const index_t a = ranked[i];
                const index_t b = ranked[j];
                if (grades[a] == grades[b]) continue;
                const index_t better = grades[a] > grades[b] ? a : b;
                const index_t worse = better == a ? b : a;
                const double change =
                    (std::exp2(grades[better]) - std::exp2(grades[worse])) * (discount[i] - discount[j]) / ideal;
                const double ahead = scores[better] - scores[worse];
                const double pull = 1 / (1 + std::exp(ahead));
                gradients[better] += pull * change;
                gradients[worse] -= pull * change;
                hessians[better] += pull * (1 - pull) * change;
                hessians[worse] += pull * (1 - pull) * change;
                losses[better] +=
                    change * (ahead > 0 ? std::log1p(std::exp(-ahead)) : std::log1p(std::exp(ahead)) - ahead);
            }
        }
    });
}

}  // namespace farthing
