// A user's own log on top of the coefficients that ship: what one step says of another run, and what it does not.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <optional>
#include <string>

#include "sextant/document.h"
#include "sextant/fit.h"
#include "sextant/predict.h"

namespace sextant {
namespace {

const std::filesystem::path kRepository = SEXTANT_SOURCE_DIR;
const std::filesystem::path kOneLog = kRepository / "tests/data/field/23-calibrated-to-one-log";

double width_of(const std::optional<Interval>& interval) { return std::log(interval->high / interval->low); }

// verl-project/verl#1208: one step of a 0.5B model on 4 GH200. Asked is a 7B model on 8 GH200 of two nodes with
// responses nine times as long, by which a fit to one step must not be surer than the one from which it started.
TEST(FieldStart, OneLogNarrowsTheIntervalOfItsOwnPlanAlone) {
  const auto shipped = load_document<Coefficients>(kRepository / "data/coefficients/verl.json").content;
  const auto runs = load_document<Runs>(kOneLog / "runs.json").content;
  const sextant::Run& run = runs.runs.front();
  const Coefficients mine = fit_coefficients(runs, {run.name}, {}, shipped);
  const auto of_the_log = [&](const Coefficients& coefficients) {
    return width_of(predict_with_trust({runs.cluster_of(run), runs.workflow_of(run), runs.plan_of(run),
                                        coefficients, run.framework})
                        .iteration_interval_s);
  };
  const auto cluster = load_document<Cluster>(kOneLog / "bigger-cluster.json").content;
  const auto workflow = load_document<Workflow>(kOneLog / "bigger-workflow.json").content;
  const auto plan = load_document<Plan>(kOneLog / "bigger-plan.json").content;
  const auto of_the_larger = [&](const Coefficients& coefficients) {
    return width_of(
        predict_with_trust({cluster, workflow, plan, coefficients, run.framework}).iteration_interval_s);
  };
  EXPECT_LT(of_the_log(mine), 0.8 * of_the_log(shipped));
  EXPECT_GT(of_the_log(mine), 2 * std::log(1.05));  // steps of a run scatter by 5 to 20 %
  EXPECT_GT(of_the_larger(mine), 0.95 * of_the_larger(shipped));
}

}  // namespace
}  // namespace sextant
