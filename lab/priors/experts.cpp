// Routed experts: cost of their FLOP relative to large products', and of reading few columns of them.
#include <cmath>
#include <limits>

#include "lab/priors/evidence_of.h"
#include "lab/priors/shown_values.h"

namespace sextant::inline lab {
namespace {

using enum CoefficientId;
using enum EvidenceRelation;

constexpr const char* kTable = "experts.csv";

void arithmetic(const std::vector<ExpertRow>& rows, const ReachedRates& reached,
                std::vector<PriorEvidence>& out) {
  constexpr double kManyRows = 256;  // of an expert: fewer read its weights longer than they compute
  ShownValues shown;
  for (const ExpertRow& row : rows) {
    const auto products = reached.flop_share.find(row.gpu->name);
    if (row.tokens * row.top_k / row.experts < kManyRows || products == reached.flop_share.end()) continue;
    const double share = row.flop() / (row.time_s * row.gpu->type.flop_per_s.at(Precision::bf16).value);
    shown.add(row.gpu->name, products->second / share);
  }
  shown.summarize(out, expert_flop_weight, equals, kTable,
                  "share of the rate of large products over experts', 256 rows an expert and more");
}

struct Reading {
  double bytes_s = 0;  // of the touched experts at the bandwidth that large weights are read with
  double columns = 0;
  double time_s = 0;
};

// time = t0 + weight bytes_s sqrt(1 + (w / columns)^2) (decode.h), the w in steps of 2 %.
struct NarrowReading {
  double weight = 0;
  double narrow_columns = 0;
};
NarrowReading fit_reading(const std::vector<Reading>& rows) {
  constexpr double kMinimum = 1, kMaximum = 1000, kStep = 1.02;
  NarrowReading best;
  double min_error = std::numeric_limits<double>::infinity();
  for (double narrow = kMinimum; narrow < kMaximum; narrow *= kStep) {
    std::vector<WeightedTerm> terms;
    terms.reserve(rows.size());
    for (const Reading& row : rows)
      terms.push_back({1, row.bytes_s * std::hypot(1, narrow / row.columns), row.time_s});
    const auto weights = fit_weights(terms);
    if (weights && weights->squared_error < min_error) {
      min_error = weights->squared_error;
      best = {weights->b, narrow};
    }
  }
  return best;
}

void reading(const std::vector<ExpertRow>& rows, const ReachedRates& reached, std::vector<PriorEvidence>& out) {
  constexpr double kFewTokens = 64, kBeyondCaches = 128 << 20;
  constexpr std::size_t kMinRows = 12;
  std::map<std::string, std::vector<Reading>> by_gpu;
  for (const ExpertRow& row : rows) {
    const auto share = reached.bandwidth_share.find(row.gpu->name);
    if (!row.is_balanced || row.tokens > kFewTokens || row.touched_bytes() < kBeyondCaches ||
        share == reached.bandwidth_share.end())
      continue;
    by_gpu[row.gpu->name].push_back(
        {row.touched_bytes() / (share->second * row.gpu->type.memory_bytes_per_s.value), row.columns(),
         row.time_s});
  }
  ShownValues weights, columns;
  for (const auto& [gpu, of_gpu] : by_gpu) {
    if (of_gpu.size() < kMinRows) continue;
    const NarrowReading fitted = fit_reading(of_gpu);
    if (!(fitted.weight > 0)) continue;
    weights.add(gpu, fitted.weight, static_cast<int>(of_gpu.size()));
    columns.add(gpu, fitted.narrow_columns, static_cast<int>(of_gpu.size()));
  }
  const std::string measure =
      "per device type, up to 64 balanced tokens as a fixed time plus reading the experts they touch: ";
  weights.summarize(out, expert_read_weight, equals, kTable, measure + "wide ones relative to dense weights");
  columns.summarize(out, expert_narrow_columns, equals, kTable, measure + "columns that count as narrow");
}

}  // namespace

std::vector<PriorEvidence> evidence_of_experts(const std::vector<ExpertRow>& rows,
                                               const ReachedRates& reached) {
  std::vector<PriorEvidence> out;
  arithmetic(rows, reached, out);
  reading(rows, reached, out);
  return out;
}

}  // namespace sextant::inline lab
