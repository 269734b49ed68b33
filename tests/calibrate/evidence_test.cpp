// The objective of a fit, worked by hand: evidence.h.
#include "calibrate/evidence.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sextant/fit.h"
#include "tests/calibrate/synthetic_runs.h"

namespace sextant::test {
namespace {

// One run, its model's spread at most what its times show, at the priors' own coordinates.
class EvidenceOfOneRun : public ::testing::Test {
 protected:
  EvidenceOfOneRun()
      : runs_(synthetic_runs({})), prepared_(prepare(runs_, {runs_.runs.front().name})), evidence_(make()) {
    coordinates_ = evidence_.prior_coordinates();
    evidence_.find_relevant(coordinates_);
  }

  // Sum of a half of the squared robust residuals and of the logarithms of the deviations.
  [[nodiscard]] double misfit_at(const std::vector<double>& coordinates, double model_log_deviation) const {
    const Evidence::Observed& observed = evidence_.observed().front();
    const std::vector<double> errors = evidence_.log_errors_of(observed, coordinates);
    double sum = 0;
    for (std::size_t t = 0; t < errors.size(); ++t) {
      const double deviation = std::hypot(observed.run->times()[t].log_deviation(), model_log_deviation);
      const double size = std::abs(errors[t]) / deviation;
      sum += (size <= 2 ? 0.5 * size * size : 2 * size - 2) + std::log(deviation);  // Huber, linear from 2 on
    }
    return sum;
  }

  Runs runs_;
  std::vector<PreparedRun> prepared_;
  Evidence evidence_;
  std::vector<double> coordinates_;

 private:
  [[nodiscard]] Evidence make() const { return Evidence(runs_, {&prepared_.front()}, FitOptions{}, {}); }
};

TEST_F(EvidenceOfOneRun, DisagreementIsMisfitAndLogarithmsOfDeviations) {
  ASSERT_EQ(evidence_.observed().front().weight, 1);
  EXPECT_NEAR(evidence_.objective_value(coordinates_), misfit_at(coordinates_, 0), 1e-9);
}

TEST_F(EvidenceOfOneRun, ASupposedSpreadWidensEveryDeviation) {
  evidence_.set_model_deviation(0.3);
  EXPECT_NEAR(evidence_.objective_value(coordinates_), misfit_at(coordinates_, 0.3), 1e-9);
}

TEST_F(EvidenceOfOneRun, LeavingThePriorsCostsByTheirDeviation) {
  ASSERT_FALSE(evidence_.free().empty());
  const int position = evidence_.free().front();
  std::vector<double> moved = coordinates_;
  moved[static_cast<std::size_t>(position)] += 0.5 * evidence_.prior_deviation_of(position);
  EXPECT_NEAR(evidence_.objective_value(moved), misfit_at(moved, 0) + 0.5 * 0.25, 1e-9);
}

// Whoever is trusted: taking weight from outliers must not make a descent look deeper.
TEST_F(EvidenceOfOneRun, DistrustDoesNotCount) {
  evidence_.set_model_deviation(1e-3);
  const double before = evidence_.objective_value(coordinates_);
  (void)evidence_.downweight_outliers(coordinates_);
  EXPECT_EQ(evidence_.objective_value(coordinates_), before);
}

}  // namespace
}  // namespace sextant::test
