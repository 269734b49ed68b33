// Evidence of products, attention and experts, by hand.
#include <gmock/gmock.h>

#include <cmath>

#include "tests/lab/priors/evidence_fixture.h"

namespace sextant {
namespace {

using enum CoefficientId;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double kRate = 989e12, kMemory = 3.35e12;

ProductRow product(double m, double n, double k, double time_s, const Gpu& gpu = h100()) {
  ProductRow row;
  row.gpu = &gpu;
  row.m = m;
  row.n = n;
  row.k = k;
  row.time_s = time_s;
  return row;
}

std::vector<PriorEvidence> evidence(const std::vector<ProductRow>& rows) {
  return evidence_of_products(rows, reached_rates(rows));
}

TEST(ProductsEvidence, TellsArithmeticFromTraffic) {
  std::vector<ProductRow> rows;
  for (const double m : {256.0, 1024.0, 4096.0}) {
    ProductRow row = product(m, 4096, 2048, 0);
    EXPECT_EQ(row.bytes(), 2 * (4096.0 * 2048 + m * 2048 + m * 4096));
    row.time_s = row.flop() / (0.8 * kRate) + 0.5 * row.bytes() / kMemory;
    rows.push_back(row);
  }
  const PriorEvidence efficiency = one_of(evidence(rows), training_efficiency);
  EXPECT_NEAR(efficiency.median, 0.8, 1e-9);
  EXPECT_EQ(efficiency.relation, EvidenceRelation::at_most);
  EXPECT_EQ(efficiency.rows, 3);
  EXPECT_THAT(efficiency.device_types, ElementsAre("H100-SXM-80GB"));
  EXPECT_NEAR(one_of(evidence(rows), inference_efficiency).median, 0.8, 1e-9);
  EXPECT_NEAR(one_of(evidence(rows), gemm_traffic_weight).median, 0.5, 1e-9);
}

TEST(ProductsEvidence, FindsThePowerWithWhichSharesFall) {
  std::vector<ProductRow> rows;
  for (const char* name : {"A100-SXM-80GB", "L40S", "H100-SXM-80GB", "B200-SXM"}) {
    const Gpu& gpu = published().gpu(name);
    const double rate = gpu.type.flop_per_s.at(Precision::bf16).value;
    const double share = 0.9 * std::pow(rate / 3e14, -0.2);
    ProductRow row = product(4096, 4096, 4096, 0, gpu);
    row.time_s = row.flop() / (share * rate);
    rows.push_back(row);
  }
  EXPECT_NEAR(one_of(evidence(rows), peak_rate_exponent).median, 0.2, 1e-9);
  EXPECT_EQ(one_of(evidence(rows), peak_rate_exponent).rows, 4);
  EXPECT_NEAR(one_of(evidence(rows), prefill_efficiency).median, 0.9, 1e-9);
  rows.pop_back();  // three device types say nothing of a slope
  EXPECT_THAT(all_of(evidence(rows), peak_rate_exponent), IsEmpty());
}

// Rows that are all alike, or device types that are as fast as each other, determine nothing.
TEST(ProductsEvidence, SaysNothingOfWhatRowsDoNotTell) {
  std::vector<ProductRow> rows(3, product(256, 4096, 2048, 1e-4));
  EXPECT_THAT(all_of(evidence(rows), training_efficiency), IsEmpty());
  rows.clear();
  for (const char* name : {"H100-SXM-80GB", "H200-SXM-141GB", "H800", "GH200-96GB"})
    rows.push_back(product(4096, 4096, 4096, 3e-4, published().gpu(name)));
  EXPECT_THAT(all_of(evidence(rows), peak_rate_exponent), IsEmpty());
}

// 8192 x 8192 weights are 134,217,728 bytes: 40.06 us at the memory bandwidth. Smaller ones stay in caches.
TEST(ProductsEvidence, ReadsLargeWeights) {
  const std::vector<ProductRow> rows = {product(1, 8192, 8192, 134217728 / (0.8 * kMemory)),
                                        product(1, 4096, 4096, 1e-6)};
  EXPECT_NEAR(one_of(evidence(rows), decode_bandwidth_efficiency).median, 0.8, 1e-12);
  EXPECT_NEAR(reached_rates(rows).bandwidth_share.at("H100-SXM-80GB"), 0.8, 1e-12);
}

// 1024 rows count as sqrt(1024^2 + 64^2) = 1025.998.
TEST(ProductsEvidence, WeighsTheArithmeticOfDecoding) {
  const double flop = 2 * std::sqrt(1024.0 * 1024 + 64 * 64) * 4096 * 4096;
  EXPECT_NEAR(one_of(evidence({product(1024, 4096, 4096, 1.4 * flop / kRate)}), decode_flop_weight).median, 1.4,
              1e-12);
}

// Reading and arithmetic of 40 us each take 40 us beside each other, 80 us one after the other, and with a
// sharing of a half sqrt(2) times 40 us.
TEST(ProductsEvidence, FindsHowFarARooflineIsShared) {
  const double n = 4096, k = 4096, share = 0.75;
  const double arithmetic_s = 2 * std::sqrt(256.0 * 256 + 64 * 64) * n * k / (share * kRate);
  const auto shown = [&](double over_one) {
    return one_of(evidence({product(4096, n, k, 2 * 4096 * n * k / (share * kRate)),
                            product(1, n, k, arithmetic_s), product(256, n, k, over_one * arithmetic_s)}),
                  roofline_sharing)
        .median;
  };
  EXPECT_NEAR(shown(std::sqrt(2)), 0.5, 1e-9);
  EXPECT_NEAR(shown(2), 0, 1e-9);
  EXPECT_NEAR(shown(1), 0.95, 1e-9);  // the most that the coefficient may be
}

TEST(ProductsEvidence, ComparesNarrowFormatsWithSixteenBits) {
  const double flop = 2 * 4096.0 * 4096 * 4096;
  ProductRow whole = product(4096, 4096, 4096, flop / (0.6 * 2 * kRate));
  whole.precision = Precision::fp8;
  ProductRow blocks = whole;
  blocks.blockwise = true;
  blocks.time_s = flop / (0.4 * 2 * kRate);
  ProductRow alone = whole;  // its shape has no row of 16 bits
  alone.n = 8192;
  const auto found =
      all_of(evidence({product(4096, 4096, 4096, flop / (0.8 * kRate)), whole, blocks, alone}), fp8_efficiency);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_NEAR(found[0].median, 0.75, 1e-12);
  EXPECT_EQ(found[0].relation, EvidenceRelation::at_most);
  EXPECT_NEAR(found[1].median, 0.5, 1e-12);
  EXPECT_EQ(found[1].relation, EvidenceRelation::equals);
}

AttentionRow attention(double sequences, double tokens, double kv_heads, double time_s) {
  return {&h100(), sequences, tokens, 32, kv_heads, 128, time_s};
}

// 4 x 32 heads x 128 x 8192 tokens, each of which sees 4096 others on average: 549,755,813,888 FLOP.
TEST(AttentionEvidence, IsRelativeToProducts) {
  const ReachedRates reached{{{"H100-SXM-80GB", 0.8}}, {}};
  const double time_s = 549755813888.0 / (0.5 * kRate);
  const auto all =
      evidence_of_prefill_attention({attention(1, 8192, 8, time_s), attention(8, 1024, 8, 1.0)}, reached);
  EXPECT_NEAR(one_of(all, prefill_attention_weight).median, 1.6, 1e-12);
  EXPECT_EQ(one_of(all, prefill_attention_weight).rows, 1);  // short ones are passed over
  EXPECT_EQ(one_of(all, attention_weight).relation, EvidenceRelation::at_least);
  EXPECT_THAT(evidence_of_prefill_attention({attention(1, 8192, 8, time_s)}, {}), IsEmpty());
}

// 8 sequences x 4096 tokens x 8 heads x 128 x keys and values x 2 bytes = 134,217,728 bytes.
TEST(AttentionEvidence, ReadsTheCache) {
  const double time_s = 1.5 * 134217728 / kMemory;
  const auto all =
      evidence_of_decode_attention({attention(8, 4096, 8, time_s), attention(64, 4096, 1, time_s)});
  EXPECT_NEAR(one_of(all, decode_kv_read_weight).median, 1.5, 1e-12);
  EXPECT_EQ(one_of(all, decode_kv_read_weight).rows, 1);  // 32 queries of one key are passed over
}

ExpertRow experts(double tokens, double intermediate, double tensor_parallel, double time_s) {
  ExpertRow row{&h100(), tokens, 2048, intermediate, 8, 128, tensor_parallel, true, time_s};
  return row;
}

// 6 x 16384 tokens x 8 experts x 2048 x 768 = 1.237e12 FLOP, 1024 rows an expert.
TEST(ExpertsEvidence, IsRelativeToProducts) {
  const ReachedRates reached{{{"H100-SXM-80GB", 0.8}}, {}};
  const double time_s = 6.0 * 16384 * 8 * 2048 * 768 / (0.4 * kRate);
  const auto all = evidence_of_experts({experts(16384, 768, 1, time_s), experts(64, 768, 1, 1.0)}, reached);
  EXPECT_NEAR(one_of(all, expert_flop_weight).median, 2, 1e-12);
  EXPECT_EQ(one_of(all, expert_flop_weight).rows, 1);
}

TEST(ExpertsEvidence, FindsWhatNarrowExpertsCost) {
  const ReachedRates reached{{}, {{"H100-SXM-80GB", 0.8}}};
  std::vector<ExpertRow> rows;
  for (const double intermediate : {768.0, 1024.0, 2048.0, 4096.0}) {
    for (const double tp : {1.0, 4.0, 8.0}) {
      for (const double tokens : {16.0, 64.0}) {
        ExpertRow row = experts(tokens, intermediate, tp, 0);
        // 16 tokens touch all 128 experts.
        const double bytes = 128 * 3.0 * 2048 * (intermediate / tp) * 2;
        EXPECT_EQ(row.touched_bytes(), bytes);
        const double c = intermediate / tp;
        row.time_s = 5e-5 + 1.2 * bytes / (0.8 * kMemory) * std::sqrt(1 + 60 * 60 / (c * c));
        rows.push_back(row);
      }
    }
  }
  const auto all = evidence_of_experts(rows, reached);
  EXPECT_NEAR(one_of(all, expert_read_weight).median, 1.2, 0.002);
  EXPECT_NEAR(one_of(all, expert_narrow_columns).median, 60, 0.6);  // found in steps of 2 %
}

TEST(ExpertsEvidence, OneTokenTouchesItsOwnExperts) {
  EXPECT_EQ(experts(1, 768, 1, 1).touched_bytes(), 8 * 3.0 * 2048 * 768 * 2);
}

}  // namespace
}  // namespace sextant
