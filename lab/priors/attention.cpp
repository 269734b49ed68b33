// Attention: cost of its FLOP relative to large products', and of reading the cache.
#include "lab/priors/evidence_of.h"
#include "lab/priors/shown_values.h"

namespace sextant::inline lab {

using enum CoefficientId;
using enum EvidenceRelation;

std::vector<PriorEvidence> evidence_of_prefill_attention(const std::vector<AttentionRow>& rows,
                                                         const ReachedRates& reached) {
  constexpr double kLong = 4096;  // tokens: shorter ones are launches and softmax, not products
  ShownValues shown;
  for (const AttentionRow& row : rows) {
    const auto products = reached.flop_share.find(row.gpu->name);
    if (row.tokens < kLong || products == reached.flop_share.end()) continue;
    // Scores and weighted values, half of them hidden by the causal mask (compute.h).
    const double flop = 4 * row.sequences * row.heads * row.head_dim * row.tokens * (0.5 * row.tokens);
    const double share = flop / (row.time_s * row.gpu->type.flop_per_s.at(Precision::bf16).value);
    shown.add(row.gpu->name, products->second / share);
  }
  std::vector<PriorEvidence> out;
  const std::string measure = "share of the rate of large products over attention's, 4096 tokens and more";
  // A backward pass computes the scores again: 2.5 times the FLOP of a forward one, of which the model
  // counts 2.
  shown.summarize(out, attention_weight, at_least, "attention_prefill.csv", measure + "; forward alone");
  shown.summarize(out, prefill_attention_weight, equals, "attention_prefill.csv", measure);
  return out;
}

std::vector<PriorEvidence> evidence_of_decode_attention(const std::vector<AttentionRow>& rows) {
  constexpr double kLargestGroup = 8;  // queries of a key: more of them compute as long as they read
  ShownValues shown;
  for (const AttentionRow& row : rows) {
    if (row.heads / row.kv_heads > kLargestGroup) continue;
    const double bytes =
        2 * row.sequences * row.tokens * row.kv_heads * row.head_dim * bytes_per_element(Precision::bf16);
    shown.add(row.gpu->name, row.time_s * row.gpu->type.memory_bytes_per_s.value / bytes);
  }
  std::vector<PriorEvidence> out;
  shown.summarize(out, decode_kv_read_weight, equals, "attention_decode.csv",
                  "time over that of reading keys and values at the memory bandwidth");
  return out;
}

}  // namespace sextant::inline lab
