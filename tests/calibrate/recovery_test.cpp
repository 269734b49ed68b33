// Known coefficients from synthetic runs, over many draws of the noise: the fit's errors are what it says they
// are, and gross outliers do not drag it away.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "sextant/fit.h"
#include "tests/calibrate/gpu_runs.h"
#include "tests/calibrate/known_start.h"
#include "tests/calibrate/synthetic_runs.h"
#include "tests/core/thoroughness.h"

namespace sextant::test {
namespace {

constexpr CoefficientId kMoved[] = {
    CoefficientId::inference_efficiency,       CoefficientId::training_efficiency,
    CoefficientId::attention_weight,           CoefficientId::decode_bandwidth_efficiency,
    CoefficientId::tensor_parallel_efficiency, CoefficientId::data_parallel_efficiency};

constexpr double kNoise = 0.04;
constexpr int kSeedsPerPart = 50;

// Unchanged coefficients are known; the others are almost free.
Coefficients knowing_the_others() {
  constexpr double kKnown = 1e-4, kOpen = 30;
  Coefficients start;
  for (const CoefficientSpec& spec : coefficient_table()) {
    const bool moved = std::find(std::begin(kMoved), std::end(kMoved), spec.id) != std::end(kMoved) ||
                       spec.id == CoefficientId::prefill_efficiency;
    start.values.push_back(coefficient(spec.id, prior_on_cpu(spec.id)));
    const double unit = spec.scale == CoefficientScale::logarithmic ? 1.0 : spec.prior_deviation;
    start.values.back().standard_error = unit * (moved ? kOpen : kKnown);
  }
  return start;
}

// Every tenth run takes four times as long, tasks and iteration alike.
void add_gross_outliers(Runs& runs, unsigned seed) {
  std::mt19937 random(seed);
  const std::size_t first = random() % 10;
  for (std::size_t r = first; r < runs.runs.size(); r += 10) {
    for (auto& [name, timing] : runs.runs[r].tasks) timing.samples_s[0] *= 4;
    runs.runs[r].iteration.samples_s[0] *= 4;
  }
}

class Recovery : public ::testing::TestWithParam<int> {
 protected:
  // Share of coefficients, over all seeds of this part, that lie within three standard errors of the truth.
  [[nodiscard]] double within_three_errors(bool outliers) const {
    const Coefficients truth = synthetic_truth(), start = knowing_the_others();
    int within = 0, all = 0;
    for (int s = 0; s < kSeedsPerPart; ++s) {
      const auto seed = static_cast<unsigned>(1000 + GetParam() * kSeedsPerPart + s);
      Runs runs = synthetic_runs(truth, kNoise, seed);
      if (outliers) add_gross_outliers(runs, seed);
      const Coefficients fitted = fit_coefficients(runs, names_of(runs), {}, start);
      for (const CoefficientId id : kMoved) {
        const Coefficient& c = find(fitted, id);
        ++all;
        within += std::abs(std::log(c.value / find(truth, id).value)) <= 3 * *c.standard_error ? 1 : 0;
      }
    }
    return static_cast<double>(within) / all;
  }
};

TEST_P(Recovery, WithinThreeStandardErrors) { EXPECT_GE(within_three_errors(false), 0.95); }

TEST_P(Recovery, WithinThreeStandardErrorsAmongOutliers) { EXPECT_GE(within_three_errors(true), 0.95); }

INSTANTIATE_TEST_SUITE_P(FiftySeedsEach, Recovery, ::testing::Range(0, cases_of(1, 4)));

// On GPUs: coefficients of computation, decoding, links, offloading, fixed times and memory at once, each away
// from its prior and hardly held by it.
constexpr CoefficientId kMovedOnGpus[] = {
    CoefficientId::prefill_efficiency,          CoefficientId::inference_efficiency,
    CoefficientId::training_efficiency,         CoefficientId::fp8_efficiency,
    CoefficientId::expert_flop_weight,          CoefficientId::decode_bandwidth_efficiency,
    CoefficientId::decode_kv_read_weight,       CoefficientId::decode_layer_overhead_s,
    CoefficientId::decode_serialization_weight, CoefficientId::tensor_parallel_efficiency,
    CoefficientId::network_efficiency,          CoefficientId::host_link_efficiency,
    CoefficientId::weight_sync_overhead_s,      CoefficientId::call_overhead_s,
    CoefficientId::iteration_overhead_s,        CoefficientId::memory_state_weight,
    CoefficientId::memory_activation_weight,    CoefficientId::memory_context_bytes};

struct OnGpus {
  Coefficients truth, start;
  std::vector<GpuCase> cases;

  OnGpus() {
    constexpr double kOpen = 30, kFactor = 1.4, kShorter = 0.1;
    for (const CoefficientSpec& spec : coefficient_table()) {
      // Fixed times a tenth of the priors', so that they do not drown the rest.
      truth.values.push_back(coefficient(spec.id, spec.unit == "s" ? kShorter * spec.prior : spec.prior));
    }
    start = knowing_all_but({std::begin(kMovedOnGpus), std::end(kMovedOnGpus)}, truth, kOpen);
    bool up = true;
    for (const CoefficientId id : kMovedOnGpus) {
      truth.values[static_cast<std::size_t>(id)].value *= up ? kFactor : 1 / kFactor;
      up = !up;
    }
    const std::set<std::string> wanted{"plain", "stages",       "all_to_all", "zero1",       "zero3",
                                       "waves", "fsdp_offload", "eight_bits", "cuda_graphs", "asynchronous"};
    for (const GpuCase& of : gpu_cases()) {
      if (!wanted.contains(of.name)) continue;
      cases.push_back(of);
      cases.push_back(wider(of));
    }
  }

  // The same on a model of three times the width and longer prompts.
  static GpuCase wider(GpuCase of) {
    of.name += "_wide";
    for (auto& [role, model] : of.workflow.models) {
      model.hidden *= 3;
      model.intermediate *= 3;
    }
    of.workflow.prompt_tokens = fixed_length(2048);
    return of;
  }

  [[nodiscard]] Runs runs(unsigned seed) const {
    std::mt19937 random(seed);
    Runs all;
    for (const GpuCase& of : cases) add_case(all, of, gpu_run(of, truth, kNoise, random));
    return all;
  }

  // Errors of the moved coefficients in a fit to one draw of the noise, in standard errors.
  [[nodiscard]] std::vector<double> errors(unsigned seed) const {
    const Runs drawn = runs(seed);
    FitOptions options;
    options.likeness_correlation = 0;  // the noise is independent
    const Coefficients fitted = fit_coefficients(drawn, names_of(drawn), options, start);
    std::vector<double> errors;
    for (const CoefficientId id : kMovedOnGpus) {
      const Coefficient& c = find(fitted, id);
      EXPECT_TRUE(c.identified) << spec_of(id).name;
      const bool logarithmic = spec_of(id).scale == CoefficientScale::logarithmic;
      const double expected = find(truth, id).value;
      errors.push_back((logarithmic ? std::log(c.value / expected) : c.value - expected) / *c.standard_error);
    }
    return errors;
  }
};

// The largest k with P(X < k) below `alarm`, X the successes of `trials` trials with probability p.
int min_successes(int trials, double p, double alarm) {
  double below = 0;
  for (int k = 0; k <= trials; ++k) {
    const double ways = std::exp(std::lgamma(trials + 1) - std::lgamma(k + 1) - std::lgamma(trials - k + 1));
    below += ways * std::pow(p, k) * std::pow(1 - p, trials - k);
    if (below >= alarm) return k;
  }
  return trials;
}

TEST(RecoveryOnGpus, AllCoefficientsWithinThreeStandardErrorsAsOftenAsChanceLeavesThem) {
  constexpr int kSeeds = 12;
  // A normal error is beyond three deviations with 0.0027, any of m with at most m times that, however they are
  // correlated. Draws are independent, so the seeds without any are at least binomial; one set of seeds in a
  // thousand would be below the bound.
  constexpr double kBeyondThree = 0.0027, kAlarm = 1e-3;
  const OnGpus on;
  int within = 0, count = 0;
  double squares = 0;
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    const std::vector<double> errors = on.errors(seed);
    within += std::all_of(errors.begin(), errors.end(), [](double e) { return std::abs(e) <= 3; }) ? 1 : 0;
    for (const double error : errors) squares += error * error;
    count += static_cast<int>(errors.size());
  }
  const double all_within = 1 - kBeyondThree * static_cast<double>(std::size(kMovedOnGpus));
  EXPECT_GE(within, min_successes(kSeeds, all_within, kAlarm));
  // Nor are the standard errors so large that nothing could lie beyond them: 216 squares of mean one and, were
  // they independent, a spread of 0.09; the robust loss and correlations widen it.
  EXPECT_NEAR(squares / count, 1, 0.4);
}

TEST(RecoveryOnGpus, BinomialBound) {
  // 0.5^3 = 0.125 of none, 0.5 of at most one.
  EXPECT_EQ(min_successes(3, 0.5, 0.1), 0);
  EXPECT_EQ(min_successes(3, 0.5, 0.2), 1);
  EXPECT_EQ(min_successes(3, 0.5, 0.6), 2);
}

}  // namespace
}  // namespace sextant::test
