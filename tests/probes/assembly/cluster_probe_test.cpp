// The whole probe on one rank of this machine, with budgets too small for good numbers.
#include "probes/cluster_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/error.h"
#include "core/json_value.h"

namespace sextant {
namespace {

ProbeOptions tiny_options() {
  ProbeOptions options;
  options.budget_s_per_point = 1e-3;
  options.name = "test";
  return options;
}

TEST(ProbeCluster, OneRankGivesADeviceWithMeasuredRates) {
  const auto world = make_serial_communicator();
  const ClusterProbe probe = probe_cluster(*world, tiny_options());
  ASSERT_EQ(probe.cluster.device_count(), 1);
  EXPECT_EQ(probe.cluster.name(), "test");
  const DeviceType& type = probe.cluster.type_of({0});
  for (const Quantity& quantity : {type.memory_bytes, type.memory_bytes_per_s,
                                   type.flop_per_s.at(Precision::fp32), type.flop_per_s.at(Precision::fp64)}) {
    EXPECT_GT(quantity.value, 0);
    EXPECT_TRUE(std::isfinite(quantity.value));
    EXPECT_EQ(quantity.source, Source::measured);
    EXPECT_TRUE(quantity.time_utc.has_value());
  }
  EXPECT_EQ(probe.device_of_rank, std::vector<DeviceId>{{0}});
  // The document that is written can be read.
  EXPECT_EQ(Cluster::parse(JsonView(probe.cluster.to_json())), probe.cluster);
}

TEST(ProbeCluster, SaysWhyThereAreNoLinks) {
  const auto world = make_serial_communicator();
  const ClusterProbe probe = probe_cluster(*world, tiny_options());
  const ProbeResult& last = probe.results.back();
  EXPECT_EQ(last.name, "link");
  EXPECT_EQ(last.outcome, ProbeOutcome::waived);
}

TEST(ProbeCluster, MeasuresTheShapesOfAModel) {
  const auto world = make_serial_communicator();
  ProbeOptions options = tiny_options();
  options.model.emplace();
  options.model->name = "small";
  options.model->hidden = 64;
  options.model->heads = 4;
  options.model->kv_heads = 4;
  options.model->head_dim = 16;
  options.model->intermediate = 96;
  options.model_tokens = 32;
  options.model_tensor_parallel = 2;
  std::set<std::string> names;
  for (const ProbeResult& result : probe_cluster(*world, options).results) names.insert(result.name);
  EXPECT_EQ(names.count("gemm/fp32/small/gate_up"), 1U);
  options.model_tensor_parallel = 5;
  EXPECT_THROW(static_cast<void>(probe_cluster(*world, options)), Error);
}

// Whoever keeps results has them even where they are too few for a cluster.
TEST(ProbeCluster, GivesResultsBeforeAClusterIsMadeOfThem) {
  const auto world = make_serial_communicator();
  ProbeOptions options = tiny_options();
  std::vector<ProbeResult> early;
  options.on_results = [&](const std::vector<ProbeResult>& results) {
    early = results;
    throw_machine_failed("stopped here");
  };
  EXPECT_THROW(static_cast<void>(probe_cluster(*world, options)), Error);
  EXPECT_TRUE(std::any_of(early.begin(), early.end(), [](const ProbeResult& result) {
    return result.name == "memory/read" && !result.samples_s.empty();
  }));
}

TEST(SamplesToJson, HasEveryResultWithItsSamples) {
  const auto world = make_serial_communicator();
  const ClusterProbe probe = probe_cluster(*world, tiny_options());
  const Json json = parse_json(format_json(samples_to_json(probe)));
  ASSERT_EQ(json["results"].size(), probe.results.size());
  for (std::size_t at = 0; at < probe.results.size(); ++at) {
    EXPECT_EQ(ProbeResult::parse(JsonView(json["results"][at])), probe.results[at]);
  }
}

}  // namespace
}  // namespace sextant
