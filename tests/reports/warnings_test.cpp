#include "reports/sections/warnings.h"

#include <gmock/gmock.h>

#include "tests/reports/fixture.h"

namespace sextant {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

auto warns_of(const char* text) { return Contains(Field(&Warning::text, HasSubstr(text))); }

// The fixture without what it has to warn of.
ReportInput quiet_report() {
  ReportInput input = fixture_report(two_cores());
  for (Coefficient& coefficient : input.coefficients->content.values) coefficient.at_bound = false;
  for (Run& run : input.runs->content.runs) run.iteration.samples_s = {1.0, 1.0, 1.0};
  for (auto& [name, task] : input.prediction->content.tasks) task.familiarity.reset();
  return input;
}

TEST(Warnings, NoneWhenAllIsWell) { EXPECT_THAT(report_warnings(quiet_report()), IsEmpty()); }

TEST(Warnings, HeldOutErrorsAboveWhatIsPromised) {
  ReportInput input = quiet_report();
  input.accuracy->content.held_out_tasks.mape = kTaskErrorLimit + 0.01;
  EXPECT_THAT(report_warnings(input), warns_of("held-out task times is 16.0 %"));
  input.accuracy->content.held_out_iterations.mape = kIterationErrorLimit + 0.01;
  EXPECT_THAT(report_warnings(input), warns_of("held-out iteration times is 11.0 %"));
}

TEST(Warnings, PredictionsThatNobodyValidated) {
  ReportInput input = quiet_report();
  input.accuracy->content.held_out_tasks.count = 0;
  EXPECT_THAT(report_warnings(input), warns_of("no held-out runs"));
  input.accuracy.reset();
  EXPECT_THAT(report_warnings(input), warns_of("error of its predictions is not known"));
}

TEST(Warnings, IntervalsThatAreTooNarrow) {
  ReportInput input = quiet_report();
  input.accuracy->content.interval_coverage = 0.5;
  EXPECT_THAT(report_warnings(input), warns_of("Only 50.0 %"));
  input.accuracy->content.has_intervals = false;
  EXPECT_THAT(report_warnings(input), IsEmpty());
}

TEST(Warnings, APlanThatDoesNotFit) {
  ReportInput input = quiet_report();
  input.prediction->content.memory[1].working_bytes = 1e15;
  EXPECT_THAT(report_warnings(input), warns_of("more memory than is available on device 1: at most "));
  EXPECT_THAT(report_warnings(input), warns_of(" of 11.2 GiB."));
}

TEST(Warnings, AHostThatIsTooSmall) {
  ReportInput input = quiet_report();
  constexpr double kGiB = 1 << 30;
  input.prediction->content.host_memory = {{"node-0", 64 * kGiB, 80 * kGiB}, {"node-1", {}, 80 * kGiB}};
  ASSERT_EQ(report_warnings(input).size(), 1U);
  EXPECT_THAT(report_warnings(input), warns_of("available on host node-0: 80.0 GiB of 64.0 GiB."));
}

TEST(Warnings, AFitThatDidNotConverge) {
  ReportInput input = quiet_report();
  input.coefficients->content.fit->converged = false;
  input.coefficients->content.fit->message = "iteration limit";
  EXPECT_THAT(report_warnings(input), warns_of("did not converge: iteration limit"));
}

TEST(Warnings, CoefficientsDrivenToABoundThatIsNotNeutral) {
  ReportInput input = quiet_report();
  for (Coefficient& coefficient : input.coefficients->content.values) {
    if (coefficient.id == CoefficientId::weight_sync_efficiency) {
      coefficient.at_bound = true;
      coefficient.prior = 0.9 * coefficient.value;
    }
    if (coefficient.id == CoefficientId::task_overlap) {
      coefficient.at_bound = true;
      coefficient.prior = coefficient.value;  // where the prior lies already
    }
    if (coefficient.id != CoefficientId::task_overhead_s) continue;
    coefficient.value = 0;  // neutral
    coefficient.at_bound = true;
  }
  EXPECT_THAT(report_warnings(input),
              warns_of("These coefficients are at a bound of the fit: weight sync efficiency."));
}

TEST(Warnings, PredictionsFarFromTheRuns) {
  ReportInput input = quiet_report();
  input.prediction->content.tasks.begin()->second.familiarity = Familiarity{"a run", 3, {"a longer sequence"}};
  EXPECT_THAT(report_warnings(input), warns_of("extrapolating"));
  input.prediction->content.tasks.begin()->second.familiarity = Familiarity{"a run", 0.1, {}};
  EXPECT_THAT(report_warnings(input), IsEmpty());
}

TEST(Warnings, RunsThatSpread) {
  ReportInput input = quiet_report();
  input.runs->content.runs[4].iteration.samples_s = {1, 2, 1, 3, 1};
  EXPECT_THAT(report_warnings(input), warns_of("1 of 36 runs"));
  input.runs->content.runs[4].iteration.samples_s = {1};
  EXPECT_THAT(report_warnings(input), IsEmpty());  // one sample has no spread
}

TEST(Warnings, AssumedRates) {
  ReportInput input = quiet_report();
  const Cluster& cluster = input.cluster->content;
  auto levels = cluster.levels();
  levels[LinkLevel::within_node].latency_s = assumed(1e-6);
  input.cluster->content = Cluster("other", cluster.device_types(), cluster.nodes(), levels);
  EXPECT_THAT(report_warnings(input), warns_of("latency within a node"));
}

}  // namespace
}  // namespace sextant
