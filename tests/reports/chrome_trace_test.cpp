// The timeline as other viewers read it: reports/export/chrome_trace.h.
#include "reports/export/chrome_trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "core/json_value.h"
#include "sextant/predict.h"
#include "tests/costmodel/small_problem.h"

namespace sextant::test {
namespace {

std::vector<Json> events_of(const Json& trace, const char* phase, const char* category = "") {
  std::vector<Json> found;
  for (const Json& event : trace["traceEvents"]) {
    const bool of_category = *category == '\0' || event.value("cat", "") == category;
    if (event["ph"] == phase && of_category) found.push_back(event);
  }
  return found;
}

double end_us(const Json& span) { return span["ts"].get<double>() + span["dur"].get<double>(); }

// Generation on the fast devices, the rest on the slow ones.
Plan apart() { return plan_with(on_device(0), on_device(2), on_device(2)); }

// The overhead of a framework between tasks, so that every iteration has some.
Coefficients with_overhead() {
  Coefficients coefficients;
  Coefficient overhead;
  overhead.id = CoefficientId::iteration_overhead_s;
  overhead.value = 7;
  coefficients.values.push_back(overhead);
  return coefficients;
}

TEST(ChromeTrace, EveryTaskIsASpanOnEachOfItsDevices) {
  const Cluster cluster = small_cluster();
  const Prediction prediction = predict(cluster, small_workflow(), same_everywhere(uneven_pipeline()), {});
  const Json trace = chrome_trace(prediction, cluster);
  const std::vector<Json> spans = events_of(trace, "X", "task");
  std::size_t wanted = 0;
  for (const auto& [name, task] : prediction.tasks) wanted += task.devices.size();
  ASSERT_EQ(spans.size(), wanted);
  for (const Json& span : spans) {
    const TaskPrediction& task = prediction.tasks.at(span["name"].get<std::string>());
    EXPECT_DOUBLE_EQ(span["ts"].get<double>(), task.start_s * 1e6);
    EXPECT_DOUBLE_EQ(span["dur"].get<double>(), task.time_s * 1e6);
    EXPECT_EQ(span["pid"], cluster.node_of(DeviceId{span["tid"].get<int>()}).value);
    double sum_s = 0;
    for (const auto& [term, time_s] : span["args"].items()) sum_s += time_s.get<double>();
    EXPECT_NEAR(sum_s, task.time_s, 1e-9 * task.time_s);
  }
}

TEST(ChromeTrace, NamesNodesOnceAndDevicesEach) {
  const Cluster cluster = small_cluster();
  const Prediction prediction = predict(cluster, small_workflow(), same_everywhere(uneven_pipeline()), {});
  std::set<int> nodes, devices, named_nodes, named_devices;
  for (const auto& [name, task] : prediction.tasks) {
    for (const DeviceId device : task.devices) {
      devices.insert(device.value);
      nodes.insert(cluster.node_of(device).value);
    }
  }
  for (const Json& event : events_of(chrome_trace(prediction, cluster), "M")) {
    const bool is_node = event["name"] == "process_name";
    EXPECT_TRUE(
        (is_node ? named_nodes : named_devices).insert(event[is_node ? "pid" : "tid"].get<int>()).second);
  }
  EXPECT_EQ(named_nodes, nodes);
  EXPECT_EQ(named_devices, devices);
}

class EndOfTheIteration : public ::testing::TestWithParam<Mode> {};

TEST_P(EndOfTheIteration, FollowsTheTasksOnEveryDevice) {
  const Cluster cluster = small_cluster();
  const Prediction prediction = predict(cluster, small_workflow(GetParam()), apart(), with_overhead());
  ASSERT_GT(prediction.weight_sync_s, 0);
  double tasks_s = 0;
  for (const auto& [name, task] : prediction.tasks) tasks_s = std::max(tasks_s, task.end_s);
  const std::vector<Json> spans = events_of(chrome_trace(prediction, cluster), "X", "iteration");
  ASSERT_EQ(spans.size(), 4U);  // two on each of two devices
  for (const int device : {0, 2}) {
    std::vector<Json> own;
    for (const Json& span : spans) {
      if (span["tid"] == device) own.push_back(span);
    }
    ASSERT_EQ(own.size(), 2U);
    EXPECT_EQ(own[0]["name"], "weight_sync");
    EXPECT_DOUBLE_EQ(own[0]["ts"].get<double>(), tasks_s * 1e6);
    EXPECT_DOUBLE_EQ(own[0]["dur"].get<double>(), prediction.weight_sync_s * 1e6);
    EXPECT_EQ(own[1]["name"], "iteration_overhead");
    EXPECT_DOUBLE_EQ(own[1]["ts"].get<double>(), end_us(own[0]));
    EXPECT_NEAR(own[1]["dur"].get<double>(), 7e6, 1e-3);  // all that is left
    EXPECT_DOUBLE_EQ(end_us(own[1]), prediction.iteration_s * 1e6);
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, EndOfTheIteration, ::testing::Values(Mode::synchronous, Mode::asynchronous),
                         [](const auto& mode) {
                           return mode.param == Mode::synchronous ? "Synchronous" : "Asynchronous";
                         });

// Without time after the tasks there is no event either.
TEST(ChromeTrace, HasNoEmptySpans) {
  const Cluster cluster = small_cluster();
  Prediction prediction = predict(cluster, small_workflow(), same_everywhere(on_device(0)), {});
  prediction.weight_sync_s = 0;
  prediction.iteration_s = 0;
  for (const auto& [name, task] : prediction.tasks)
    prediction.iteration_s = std::max(prediction.iteration_s, task.end_s);
  EXPECT_TRUE(events_of(chrome_trace(prediction, cluster), "X", "iteration").empty());
}

}  // namespace
}  // namespace sextant::test
