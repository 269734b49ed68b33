// The whole probe on one rank of this machine, with budgets too small for good numbers.
#include "probes/ranks/cluster_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <latch>
#include <set>

#include "core/json_value.h"
#include "probes/comm/thread_communicator.h"
#include "sextant/error.h"
#include "tests/probes/comm/fake_hosts.h"

namespace sextant {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

ProbeOptions tiny_options() {
  ProbeOptions options;
  options.budget_s_per_point = 1e-3;
  options.is_smoke_test = true;
  options.name = "test";
  return options;
}

TEST(ProbeCluster, OneRankGivesADeviceWithMeasuredRates) {
  const auto world = make_serial_communicator();
  ProbeOptions options = tiny_options();
  options.is_smoke_test = false;
  const ClusterProbe probe = probe_cluster(*world, options);
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

TEST(ProbeCluster, ASmokeTestHasTheSmallestSizesOfEverything) {
  const auto world = make_serial_communicator();
  const ClusterProbe probe = probe_cluster(*world, tiny_options());
  EXPECT_EQ(probe.cluster.device_count(), 1);
  int products = 0;
  for (const ProbeResult& result : probe.results) {
    if (result.name.starts_with("gemm/fp32/")) ++products;
    if (result.name == "memory/read") {
      EXPECT_LE(result.work, 16.0 * 1024 * 1024);
    }
  }
  EXPECT_EQ(products, 1);
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

// Rank 2 hangs while devices are measured: it is named, and the others measure theirs and the link between
// them.
TEST(ProbeCluster, ARankThatHangsInItsDeviceIsNamedAndTheRestGoesOn) {
  std::latch others_are_done(2);
  ClusterProbe of_leader;
  run_on_threads(3, [&](Communicator& threads) {
    OnFakeHosts world(threads, {"a", "b", "c"});
    ProbeOptions options = tiny_options();
    options.pin = false;
    options.answer_limit_s = 1;
    options.budget_s_per_point = 2e-3;
    ProbeHooks hooks;
    if (world.rank() == 2) {
      hooks.on_step = [&](const std::string& what) {
        if (what != "memory bandwidth") return;
        others_are_done.wait();
        throw_machine_failed("it hung");  // for it is not to go on
      };
    }
    try {
      const ClusterProbe probe = probe_cluster(world, options, {}, hooks);
      ASSERT_EQ(probe.lost.size(), 1U);
      EXPECT_FALSE(probe.is_whole());
      if (world.rank() == 0) of_leader = probe;
      others_are_done.count_down();
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "it hung");
      EXPECT_EQ(world.rank(), 2);
    }
  });
  EXPECT_THAT(of_leader.lost.at(2), HasSubstr("rank 2 on c sent nothing for"));
  EXPECT_THAT(of_leader.warnings,
              Contains(HasSubstr("while devices were measured: measurements continued without")));
  EXPECT_EQ(of_leader.why_no_cluster, "");
  EXPECT_EQ(of_leader.cluster.device_count(), 2);
  EXPECT_TRUE(std::any_of(of_leader.results.begin(), of_leader.results.end(), [](const ProbeResult& result) {
    return result.name == "link/8" && result.rank == 0 && result.peer == 1 && result.has_value();
  }));
}

}  // namespace
}  // namespace sextant
