#include "lab/priors/prior_evidence.h"

#include <algorithm>
#include <cmath>

#include "core/json_value.h"
#include "lab/priors/evidence_of.h"

namespace sextant::inline lab {
namespace {

double difference(const CoefficientSpec& spec, double from, double to) {
  return spec.scale == CoefficientScale::linear ? to - from : std::log(to / from);
}

}  // namespace

std::string_view name_of(EvidenceRelation relation) {
  switch (relation) {
    case EvidenceRelation::equals:
      return "equals";
    case EvidenceRelation::at_most:
      return "at most";
    case EvidenceRelation::at_least:
      return "at least";
  }
  return "";
}

double PriorEvidence::distance() const {
  const CoefficientSpec& spec = spec_of(id);
  const double width = std::hypot(spec.prior_deviation, spec.type_deviation, spec.framework_deviation);
  const double above = difference(spec, median, spec.prior) / width;  // of the prior, over the evidence
  switch (relation) {
    case EvidenceRelation::equals:
      return std::abs(above);
    case EvidenceRelation::at_most:
      return std::max(0.0, above);
    case EvidenceRelation::at_least:
      return std::max(0.0, -above);
  }
  return 0;
}

Json PriorEvidence::to_json() const {
  const CoefficientSpec& spec = spec_of(id);
  return {{"name", spec.name},
          {"unit", spec.unit},
          {"prior", spec.prior},
          {"relation", name_of(relation)},
          {"median", median},
          {"low", low},
          {"high", high},
          {"distance", distance()},
          {"agrees", distance() <= kAgreement},
          {"table", table},
          {"rows", rows},
          {"device_types", device_types},
          {"measure", measure}};
}

std::vector<PriorEvidence> evidence_of_priors(const std::filesystem::path& folder, const Facts& facts) {
  const std::vector<ProductRow> products = load_products(folder / "products.csv", facts);
  const ReachedRates reached = reached_rates(products);
  std::vector<PriorEvidence> all = evidence_of_products(products, reached);
  const auto join = [&all](std::vector<PriorEvidence> more) {
    std::move(more.begin(), more.end(), std::back_inserter(all));
  };
  join(evidence_of_prefill_attention(load_attention(folder / "attention_prefill.csv", "tokens", facts),
                                     reached));
  join(evidence_of_decode_attention(load_attention(folder / "attention_decode.csv", "context_tokens", facts)));
  join(evidence_of_experts(load_experts(folder / "experts.csv", facts), reached));
  join(evidence_of_collectives(load_collectives(folder / "collectives.csv", facts)));
  join(evidence_of_transfers(load_transfers(folder / "weight_transfers.csv", facts)));
  std::stable_sort(all.begin(), all.end(),
                   [](const PriorEvidence& a, const PriorEvidence& b) { return a.id < b.id; });
  return all;
}

}  // namespace sextant::inline lab
