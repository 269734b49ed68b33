// The timeline as other viewers read it: reports/export/chrome_trace.h.
#include "reports/export/chrome_trace.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "costmodel/predict.h"
#include "tests/costmodel/small_problem.h"

namespace sextant::testing {
namespace {

std::vector<Json> events_of(const Json& trace, const char* phase) {
  std::vector<Json> found;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == phase) found.push_back(event);
  }
  return found;
}

TEST(ChromeTrace, EveryTaskIsASpanOnEachOfItsDevices) {
  const Cluster cluster = small_cluster();
  const Prediction prediction = predict(cluster, small_workflow(), same_everywhere(uneven_pipeline()), {});
  const Json trace = chrome_trace(prediction, cluster);
  const std::vector<Json> spans = events_of(trace, "X");
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

}  // namespace
}  // namespace sextant::testing
