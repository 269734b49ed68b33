// Known coefficients from synthetic runs, over many draws of the noise: the fit's errors are what it says they are,
// and gross outliers do not drag it away.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "calibrate/fit.h"
#include "tests/calibrate/synthetic_runs.h"

namespace sextant::testing {
namespace {

constexpr CoefficientId kMoved[] = {
    CoefficientId::inference_efficiency,       CoefficientId::training_efficiency,
    CoefficientId::attention_weight,           CoefficientId::decode_bandwidth_efficiency,
    CoefficientId::tensor_parallel_efficiency, CoefficientId::data_parallel_efficiency};

constexpr double kNoise = 0.04;
constexpr int kSeedsPerPart = 50;  // of 200: four parts run beside each other

// What the truth did not move is known; the rest is as good as free.
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

INSTANTIATE_TEST_SUITE_P(TwoHundredSeeds, Recovery, ::testing::Range(0, 4));

}  // namespace
}  // namespace sextant::testing
