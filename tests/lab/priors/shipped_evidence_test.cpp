// The tables that ship against the priors that ship.
#include <gmock/gmock.h>

#include "tests/lab/priors/evidence_fixture.h"

namespace sextant {
namespace {

using enum CoefficientId;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::vector<PriorEvidence>& shipped() {
  static const std::vector<PriorEvidence> all =
      evidence_of_priors(std::string(SEXTANT_SOURCE_DIR) + "/data/public/kernels", published());
  return all;
}

TEST(ShippedEvidence, AgreesWithThePriors) {
  for (const PriorEvidence& evidence : shipped()) {
    EXPECT_LE(evidence.distance(), kAgreement)
        << spec_of(evidence.id).name << ": prior " << spec_of(evidence.id).prior << ", " << evidence.table
        << " " << name_of(evidence.relation) << " " << evidence.median;
  }
}

TEST(ShippedEvidence, BearsOnWhatIsMeasured) {
  EXPECT_THAT(shipped(), SizeIs(28));
  for (const CoefficientId id : {prefill_efficiency,         inference_efficiency,
                                 training_efficiency,        fp4_efficiency,
                                 roofline_sharing,           attention_weight,
                                 prefill_attention_weight,   expert_flop_weight,
                                 gemm_traffic_weight,        decode_bandwidth_efficiency,
                                 decode_flop_weight,         decode_kv_read_weight,
                                 expert_read_weight,         tensor_parallel_efficiency,
                                 expert_parallel_efficiency, data_parallel_efficiency,
                                 weight_sync_efficiency,     weight_sync_tensor_overhead_s,
                                 collective_step_weight,     network_efficiency}) {
    const PriorEvidence evidence = one_of(shipped(), id);
    EXPECT_GE(evidence.rows, 6) << spec_of(id).name;
    EXPECT_LE(evidence.low, evidence.median);
    EXPECT_GE(evidence.high, evidence.median);
    EXPECT_THAT(evidence.device_types, Not(IsEmpty())) << spec_of(id).name;
  }
}

// All-reduces and all-to-alls ramp alike.
TEST(ShippedEvidence, CollectivesOfBothKindsRamp) {
  const auto ramps = all_of(shipped(), collective_ramp_weight);
  ASSERT_THAT(ramps, SizeIs(2));
  for (const PriorEvidence& evidence : ramps) {
    EXPECT_GE(evidence.rows, 100);
    EXPECT_GT(evidence.median, 2);
    EXPECT_LT(evidence.median, 8);
  }
}

// Every prior says where it is from, and in few words.
TEST(ShippedEvidence, EveryPriorHasASource) {
  for (const CoefficientSpec& spec : coefficient_table()) {
    EXPECT_GE(spec.source.size(), 10U) << spec.name;
    EXPECT_LE(spec.source.size(), 140U) << spec.name;
  }
}

}  // namespace
}  // namespace sextant
