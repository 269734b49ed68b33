// Each table's evidence by itself, for prior_evidence.cpp and tests. Rows that bear on nothing are passed over,
// and a coefficient on which no row bears has no evidence.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lab/priors/kernel_tables.h"
#include "lab/priors/prior_evidence.h"

namespace sextant {

// What large products and the reading of weights reach of a device, which other kernels are held against.
struct ReachedRates {
  std::map<std::string, double> flop_share;       // of the datasheet's dense 16-bit rate; median, by GPU
  std::map<std::string, double> bandwidth_share;  // of the datasheet's memory bandwidth; median, by GPU
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

}  // namespace sextant
