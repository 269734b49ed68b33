// The fit of RL iterations takes its priors from the fits of their parts.
#include "lab/claims/shared_priors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace sextant {
namespace {

using enum CoefficientId;

Coefficient fitted(CoefficientId id, const std::string& framework, double value, double error) {
  Coefficient entry;
  entry.id = id;
  entry.framework = framework;
  entry.value = value;
  entry.standard_error = error;
  return entry;
}

const Coefficient* found(const Coefficients& in, CoefficientId id) {
  const auto at =
      std::find_if(in.values.begin(), in.values.end(), [id](const auto& one) { return one.id == id; });
  return at == in.values.end() ? nullptr : &*at;
}

struct Parts {
  Coefficients engines, trainers;
  Parts() {
    engines.values = {
        fitted(decode_kv_read_weight, "*", 1.5, 0.2),       fitted(decode_kv_read_weight, "sglang", 1.2, 0.1),
        fitted(decode_kv_read_weight, "vllm", 2, 0.08),     fitted(roofline_sharing, "*", 0.7, 0.01),
        fitted(decode_token_overhead_s, "vllm", 1e-5, 0.1), fitted(training_efficiency, "*", 0.1, 0.1)};
    engines.values.push_back(fitted(decode_bandwidth_efficiency, "*", 0.9, 0.05));
    engines.values.back().device_type = "H100-SXM-80GB";
    trainers.values = {fitted(layer_overhead_s, "*", 3e-4, 0.12),
                       fitted(layer_overhead_s, "megatron-lm", 9e-4, 0.1),
                       fitted(training_efficiency, "*", 0.7, 0.2)};
  }
};

TEST(SharedPriors, OfEnginesAreThoseOfVllmWithRoomForOtherReleases) {
  const Parts parts;
  const Coefficients priors = priors_from_parts(parts.engines, parts.trainers);
  const Coefficient* cache = found(priors, decode_kv_read_weight);
  ASSERT_NE(cache, nullptr);
  EXPECT_EQ(cache->value, 2);
  EXPECT_EQ(cache->framework, kAny);
  EXPECT_DOUBLE_EQ(*cache->standard_error, std::hypot(0.08, 0.15));
  EXPECT_DOUBLE_EQ(*found(priors, roofline_sharing)->standard_error, 0.5 * 0.1)
      << "linear: half of the table's";
}

TEST(SharedPriors, OfTrainersAreThoseForAllFrameworks) {
  const Parts parts;
  const Coefficients priors = priors_from_parts(parts.engines, parts.trainers);
  EXPECT_EQ(found(priors, layer_overhead_s)->value, 3e-4);
  EXPECT_DOUBLE_EQ(*found(priors, layer_overhead_s)->standard_error, std::hypot(0.12, 0.5));
  EXPECT_EQ(found(priors, training_efficiency)->value, 0.7) << "not the engine fit's";
}

TEST(SharedPriors, LeaveHostTimesOfRlFrameworksAndSingleDeviceTypesToTheTable) {
  const Parts parts;
  const Coefficients priors = priors_from_parts(parts.engines, parts.trainers);
  EXPECT_EQ(found(priors, decode_token_overhead_s), nullptr);
  EXPECT_EQ(found(priors, decode_bandwidth_efficiency), nullptr);
  EXPECT_EQ(priors.values.size(), 4U);
}

}  // namespace
}  // namespace sextant
