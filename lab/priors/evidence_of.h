// Evidence from each table separately, for prior_evidence.cpp and tests. Rows without evidence are skipped, and
// a coefficient without rows has no evidence.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lab/priors/kernel_tables.h"
#include "lab/priors/prior_evidence.h"

namespace sextant::inline lab {

// The rates that large products and reads of weights reach on a device, to which other kernels are compared.
struct ReachedRates {
  std::map<std::string, double> flop_share;       // part of the datasheet's dense 16-bit rate; median, by GPU
  std::map<std::string, double> bandwidth_share;  // part of the datasheet's memory bandwidth; median, by GPU
};

[[nodiscard]] ReachedRates reached_rates(const std::vector<ProductRow>& rows);

[[nodiscard]] std::vector<PriorEvidence> evidence_of_products(const std::vector<ProductRow>& rows,
                                                              const ReachedRates& reached);
[[nodiscard]] std::vector<PriorEvidence> evidence_of_prefill_attention(const std::vector<AttentionRow>& rows,
                                                                       const ReachedRates& reached);
[[nodiscard]] std::vector<PriorEvidence> evidence_of_decode_attention(const std::vector<AttentionRow>& rows);
[[nodiscard]] std::vector<PriorEvidence> evidence_of_experts(const std::vector<ExpertRow>& rows,
                                                             const ReachedRates& reached);
[[nodiscard]] std::vector<PriorEvidence> evidence_of_collectives(const std::vector<CollectiveRow>& rows);
[[nodiscard]] std::vector<PriorEvidence> evidence_of_transfers(const std::vector<TransferRow>& rows);

}  // namespace sextant::inline lab
