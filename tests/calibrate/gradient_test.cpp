// Exact derivatives against central differences: of CPU runs, and of every layout that the model knows on GPUs.
#include "calibrate/gradient.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "calibrate/residuals.h"
#include "tests/calibrate/gpu_runs.h"
#include "tests/calibrate/synthetic_runs.h"

namespace sextant::test {
namespace {

// Largest derivative of the logarithm of any number by each coefficient's coordinate.
using Largest = std::array<double, kCoefficientCount>;

// Compares the derivatives of every number of a run by every parameter.
Largest compare(const PreparedRun& run, const std::vector<Parameter>& parameters,
                const std::vector<double>& at) {
  constexpr double kStep = 1e-5;
  constexpr double kTruncation = 1e-6;  // of the central difference, with its rounding; relative
  constexpr double kRounding = 1e-12;
  RunGradient gradient(run, parameters);
  gradient.find_relevant(at.data());
  const RunGradient::Result result = gradient.evaluate(at.data());
  const std::vector<double> plain = gradient.predict(at.data());
  Largest largest{};
  for (std::size_t p = 0; p < at.size(); ++p) {
    std::vector<double> up = at, down = at;
    up[p] += kStep;
    down[p] -= kStep;
    const std::vector<double> above = gradient.predict(up.data()), below = gradient.predict(down.data());
    const auto column = std::find(gradient.columns().begin(), gradient.columns().end(), static_cast<int>(p));
    for (std::size_t t = 0; t < plain.size(); ++t) {
      EXPECT_NEAR(result.predicted[t], plain[t], kRounding * plain[t]);
      const double exact =
          column == gradient.columns().end()
              ? 0.0
              : result.by_parameter[t][static_cast<std::size_t>(column - gradient.columns().begin())];
      EXPECT_NEAR(exact / plain[t], (above[t] - below[t]) / (2 * kStep * plain[t]), kTruncation)
          << run.times()[t].what << " of " << run.run().name << " by " << parameters[p].spec().name << " of "
          << parameters[p].device_type << ", " << parameters[p].framework;
      double& maximum = largest[static_cast<std::size_t>(parameters[p].id)];
      maximum = std::max(maximum, std::abs(exact / plain[t]));
    }
  }
  return largest;
}

TEST(Gradient, OfRunsOnCores) {
  const Runs runs = synthetic_runs(synthetic_truth());
  const std::vector<Parameter> parameters = free_parameters(runs, names_of(runs), {});
  std::vector<double> at;
  at.reserve(parameters.size());
  for (const Parameter& parameter : parameters) at.push_back(parameter.prior_coordinate());
  const std::vector<PreparedRun> prepared = prepare(runs, names_of(runs));
  for (std::size_t r = 0; r < prepared.size(); r += 3) (void)compare(prepared[r], parameters, at);
}

// The last answers are kept: neither another point nor parameters that become relevant may get them.
TEST(Gradient, IsOfThePointThatIsAsked) {
  const Runs runs = synthetic_runs(synthetic_truth());
  const std::vector<Parameter> parameters = free_parameters(runs, names_of(runs), {});
  std::vector<double> here;
  for (const Parameter& parameter : parameters) here.push_back(parameter.prior_coordinate());
  std::vector<double> there = here;
  for (double& coordinate : there) coordinate += 0.1;
  const std::vector<PreparedRun> prepared = prepare(runs, names_of(runs));
  const auto fresh = [&](const std::vector<double>& at) {
    RunGradient gradient(prepared.front(), parameters);
    gradient.find_relevant(here.data());
    return std::pair(gradient.predict(at.data()), gradient.evaluate(at.data()).by_parameter);
  };
  RunGradient gradient(prepared.front(), parameters);
  EXPECT_TRUE(gradient.evaluate(here.data()).by_parameter.front().empty());
  gradient.find_relevant(here.data());
  for (const std::vector<double>& at : {here, here, there, there, here}) {
    EXPECT_EQ(gradient.predict(at.data()), fresh(at).first);
    EXPECT_EQ(gradient.evaluate(at.data()).by_parameter, fresh(at).second);
  }
  EXPECT_NE(fresh(here).first, fresh(there).first);
  EXPECT_NE(fresh(here).second, fresh(there).second);
}

// Near the priors, but inside the bounds and where nothing is neutral or alike by chance.
std::vector<double> somewhere(const std::vector<Parameter>& parameters, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> near(-0.3, 0.3);
  constexpr double kMargin = 0.05;
  std::vector<double> at;
  at.reserve(parameters.size());
  for (const Parameter& parameter : parameters) {
    at.push_back(std::clamp(parameter.prior_coordinate() + near(random), parameter.lower() + kMargin,
                            parameter.upper() - kMargin));
  }
  return at;
}

Largest compare(const GpuCase& of) {
  std::mt19937 random(1);
  Runs runs;
  check_plan(of.plan, of.workflow, of.cluster);
  add_case(runs, of, gpu_run(of, {}, 0, random));
  // A second framework, so that frameworks have deviations too.
  runs.runs.push_back(runs.runs.front());
  runs.runs.back().name = "another";
  runs.runs.back().framework = "another";
  const std::vector<std::string> names = names_of(runs);
  const std::vector<Parameter> parameters = free_parameters(runs, names, {});
  const std::vector<PreparedRun> prepared = prepare(runs, names);
  return compare(prepared.front(), parameters, somewhere(parameters, 7));
}

// A fit and a prediction ask the same model: times, and the peak of the device with most memory in use.
void expect_the_numbers_of_predict(const GpuCase& of) {
  constexpr double kRounding = 1e-12;
  std::mt19937 random(1);
  Runs runs;
  add_case(runs, of, gpu_run(of, {}, 0, random));
  const PreparedRun prepared(runs, runs.runs.front());
  const auto hardware = prepared.hardware<double>();
  const std::vector<double> predicted =
      prepared.predict(CoefficientValues<double>(hardware.type_count()), hardware);
  ASSERT_GE(predicted.size(), 6U);  // four tasks, iteration and memory; weight sync where there is any
  for (std::size_t t = 0; t < predicted.size(); ++t) {
    const MeasuredTime& time = prepared.times()[t];
    EXPECT_NEAR(predicted[t], time.measured, kRounding * time.measured) << time.what;
  }
}

class GradientOfLayout : public ::testing::TestWithParam<GpuCase> {};

TEST_P(GradientOfLayout, AgreesWithCentralDifferences) { (void)compare(GetParam()); }

TEST_P(GradientOfLayout, IsOfTheNumbersThatPredictGives) { expect_the_numbers_of_predict(GetParam()); }

std::string name_of_case(const ::testing::TestParamInfo<GpuCase>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(On, GradientOfLayout, ::testing::ValuesIn(gpu_cases()), name_of_case);

// A coefficient without any derivative in all of these would never be checked above, nor fitted.
TEST(Gradient, EveryCoefficientHasOneInSomeLayout) {
  constexpr double kNoticed = 1e-6;  // of the logarithm of a number, by a unit of the fit's coordinate
  Largest largest{};
  for (const GpuCase& of : gpu_cases()) {
    const Largest here = compare(of);
    for (std::size_t c = 0; c < here.size(); ++c) largest[c] = std::max(largest[c], here[c]);
  }
  for (const CoefficientSpec& spec : coefficient_table()) {
    EXPECT_GT(largest[static_cast<std::size_t>(spec.id)], kNoticed) << spec.name;
  }
}

}  // namespace
}  // namespace sextant::test
