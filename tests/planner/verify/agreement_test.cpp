// The verifier against the cost model's own checks, on thousands of random plans: two counts of the same
// formulas that share no code.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "costmodel/terms/memory.h"
#include "planner/verify/verify.h"
#include "sextant/error.h"
#include "tests/planner/verify/random_plans.h"

namespace sextant::test {
namespace {

constexpr unsigned kCases = 20'000;
// Sums of the same numbers in another order.
constexpr double kRelative = 1e-9;

struct Counted {
  int refused = 0;
  int feasible = 0;
  int too_large = 0;
  int on_trainers_engine = 0;  // of those that were not refused
};

std::string refusal_of(const RandomCase& one) {
  try {
    check_plan(one.plan, one.workflow, one.cluster);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

// check_plan does not count bytes, and of memory it is plan_memory that speaks.
bool is_of_bytes(const Violation& violation) {
  return violation.rule == rules::kDeviceMemory || violation.rule == rules::kHostMemory ||
         violation.rule == rules::kKvCache;
}

std::string all_of(const Verdict& verdict) {
  std::string text;
  for (const Violation& violation : verdict.violations) text += describe(violation) + "\n";
  return text;
}

bool has_cache_violation(const Verdict& verdict) {
  return std::any_of(verdict.violations.begin(), verdict.violations.end(),
                     [](const Violation& violation) { return violation.rule == rules::kKvCache; });
}

void expect_same(double a, double b, const std::string& what) {
  EXPECT_NEAR(a, b, kRelative * std::max(std::abs(a), std::abs(b))) << what;
}

void compare_devices(const std::vector<DeviceMemory>& one, const std::vector<DeviceMemory>& other) {
  ASSERT_EQ(one.size(), other.size());
  for (std::size_t d = 0; d < one.size(); ++d) {
    EXPECT_EQ(one[d].device, other[d].device);
    EXPECT_EQ(one[d].capacity_bytes, other[d].capacity_bytes);
    expect_same(one[d].resident_bytes, other[d].resident_bytes, "resident");
    expect_same(one[d].working_bytes, other[d].working_bytes, "working");
  }
}

void compare_hosts(const std::vector<HostMemory>& one, const std::vector<HostMemory>& other) {
  ASSERT_EQ(one.size(), other.size());
  for (std::size_t n = 0; n < one.size(); ++n) {
    EXPECT_EQ(one[n].node, other[n].node);
    EXPECT_EQ(one[n].capacity_bytes, other[n].capacity_bytes);
    expect_same(one[n].needed_bytes, other[n].needed_bytes, "host");
  }
}

bool has_pass_on_trainers_engine(const RandomCase& one) {
  const std::vector<TaskWork> works = works_of(one.workflow, one.plan, one.cluster);
  return std::any_of(works.begin(), works.end(),
                     [&](const TaskWork& work) { return finds_weights(work, works); });
}

void compare_memory(const RandomCase& one, const Verdict& verdict) {
  const Hardware<double> hardware(one.cluster);
  const CoefficientValues<double> values = resolve(one.coefficients, hardware, one.framework);
  const std::vector<TaskWork> works = works_of(one.workflow, one.plan, one.cluster);
  Prediction prediction;
  prediction.memory = plan_memory(works, one.cluster, values, hardware);
  prediction.host_memory = host_memory(works, one.cluster);
  compare_devices(prediction.memory, verdict.devices);
  compare_hosts(prediction.host_memory, verdict.hosts);
  EXPECT_EQ(prediction.fits(), verdict.feasible()) << all_of(verdict);
}

void compare(const RandomCase& one, Counted& counted) {
  const Verdict verdict = verify_plan(one.cluster, one.workflow, one.plan, one.coefficients, one.framework);
  const std::string refusal = refusal_of(one);
  const bool keeps_rules = std::all_of(verdict.violations.begin(), verdict.violations.end(), is_of_bytes);
  EXPECT_EQ(refusal.empty(), keeps_rules) << refusal << "\n" << all_of(verdict);
  if (!refusal.empty() || has_cache_violation(verdict)) {
    ++counted.refused;
    EXPECT_TRUE(verdict.devices.empty());
    return;
  }
  compare_memory(one, verdict);
  if (has_pass_on_trainers_engine(one)) ++counted.on_trainers_engine;
  ++(verdict.feasible() ? counted.feasible : counted.too_large);
}

TEST(VerifierAgrees, WithTheCostModelOnRandomPlans) {
  Counted counted;
  for (unsigned seed = 0; seed < kCases; ++seed) {
    compare(random_case(seed), counted);
    if (HasFailure()) FAIL() << "seed " << seed;  // one case is enough to look at
  }
  // Each of the three answers is frequent.
  EXPECT_GT(counted.refused, 2000);
  EXPECT_GT(counted.feasible, 2000);
  EXPECT_GT(counted.too_large, 2000);
  EXPECT_GT(counted.on_trainers_engine, 200);
}

}  // namespace
}  // namespace sextant::test
