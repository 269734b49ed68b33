#include "probes/collective/growing_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>

#include "core/json_value.h"
#include "probes/collective/rank_collectives.h"
#include "probes/comm/thread_communicator.h"

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> described(const std::vector<GroupLevel>& levels) {
  std::vector<std::string> lines;
  for (const GroupLevel& level : levels) {
    for (const RankGroup& group : level.groups) {
      std::string line = level.name + ": " + group.name;
      for (const int rank : group.ranks) line += " " + std::to_string(rank);
      lines.push_back(line);
    }
  }
  return lines;
}

HostPlace at(const std::string& host, const std::string& zone, const std::string& region) {
  return {host, region, zone};
}

TEST(GrowingGroups, GoFromNodesToAll) {
  const std::vector<HostPlace> places = {at("a", "z1", "r1"), at("a", "z1", "r1"), at("b", "z1", "r1"),
                                         at("c", "z2", "r1"), at("c", "z2", "r1"), at("d", "z3", "r2")};
  EXPECT_THAT(described(growing_groups(places)),
              ElementsAre("node: node a 0 1", "node: node c 3 4", "zone: zone z1 0 1 2",
                          "region: region r1 0 1 2 3 4", "all: all 0 1 2 3 4 5"));
}

TEST(GrowingGroups, OneGroupIsMeasuredOnce) {
  EXPECT_THAT(growing_groups(std::vector<HostPlace>(1)), IsEmpty());
  EXPECT_THAT(described(growing_groups(std::vector<HostPlace>(3, at("a", "z", "r")))),
              ElementsAre("all: all 0 1 2"));
  EXPECT_THAT(described(growing_groups(std::vector<HostPlace>{at("a", "z", "r"), at("b", "z", "r")})),
              ElementsAre("all: all 0 1"));
}

// Four hosts in two regions.
TEST(MeasureGrowingGroups, EveryGroupHasEveryCollectiveWithItsBandwidths) {
  const std::vector<HostPlace> places = {at("a", "z1", "r1"), at("b", "z1", "r1"), at("c", "z2", "r2"),
                                         at("d", "z2", "r2")};
  CollectiveOptions options;
  options.sampling = sampling_options(0.001, 0.5);
  options.sampling.stopping.max_samples = 8;
  options.sizes_bytes = {8, 4096};
  std::mutex mutex;
  std::map<int, std::vector<ProbeResult>> by_rank;
  run_on_threads(4, [&](Communicator& world) {
    const auto make = [](Communicator& group) {
      return CollectivesOrReason{std::make_unique<RankCollectives>(group, 1e6), ""};
    };
    auto results = measure_growing_groups(world, growing_groups(places), make, options);
    const std::lock_guard lock(mutex);
    by_rank[world.rank()] = std::move(results);
  });
  constexpr std::size_t kOfGroup = 6 * 2 * 3;  // kinds, sizes, and time with two bandwidths
  EXPECT_EQ(by_rank[0].size(), 2 * kOfGroup);  // its zone and all
  EXPECT_EQ(by_rank[2].size(), kOfGroup);
  EXPECT_THAT(by_rank[1], IsEmpty());
  const auto find = [&](int rank, const std::string& name) {
    for (const ProbeResult& result : by_rank[rank]) {
      if (result.name == name) return result;
    }
    ADD_FAILURE() << name;
    return ProbeResult();
  };
  const ProbeResult of_zone = find(2, "mpi/zone/all_reduce/4096");
  EXPECT_EQ(of_zone.group, "zone z2");
  EXPECT_EQ(of_zone.ranks, 2);
  EXPECT_EQ(of_zone.rank, 2);
  EXPECT_EQ(ProbeResult::parse(JsonView(of_zone.to_json())), of_zone);
  EXPECT_NEAR(find(2, "mpi/zone/all_reduce/4096/bus_bandwidth").value, 4096 / of_zone.value,
              1);  // 2 (n - 1) / n = 1
  const ProbeResult of_all = find(0, "mpi/reduce_scatter/4096");
  EXPECT_EQ(of_all.ranks, 4);
  EXPECT_NEAR(find(0, "mpi/reduce_scatter/4096/bus_bandwidth").value, 0.75 * 4096 / of_all.value, 1);
  for (const auto& [rank, results] : by_rank) {
    for (const ProbeResult& result : results) EXPECT_TRUE(result.has_value()) << result.name << result.sentence;
  }
}

TEST(MeasureGrowingGroups, EndWhereTheyAreToldTo) {
  const std::vector<HostPlace> places = {at("a", "z", "r"), at("a", "z", "r"), at("b", "z", "r")};
  CollectiveOptions options;
  options.sampling = sampling_options(0.001, 0.5);
  options.sizes_bytes = {8};
  std::atomic<int> all = 0;
  run_on_threads(3, [&](Communicator& world) {
    const auto make = [](Communicator& group) {
      return CollectivesOrReason{std::make_unique<RankCollectives>(group, 1e6), ""};
    };
    const auto stop = [](const GroupLevel& level, const std::vector<ProbeResult>&) {
      return level.name != "node";
    };
    for (const ProbeResult& result :
         measure_growing_groups(world, growing_groups(places), make, options, steady_clock(), stop)) {
      if (result.group == "all") ++all;
    }
  });
  EXPECT_EQ(all, 0);
}

}  // namespace
}  // namespace sextant
