#include "probes/gpu/gpu_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <latch>
#include <optional>
#include <set>

#include "probes/comm/thread_communicator.h"
#include "sextant/error.h"
#include "tests/probes/comm/fake_hosts.h"
#include "tests/probes/cuda/fake_gpu_host.h"

namespace sextant {
namespace {

using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

struct Job {
  std::vector<std::string> hosts;  // by rank
  int gpus = 1;                    // that each rank sees
  MakeCollectives make = on_host_memory;
  double nccl_budget_s = 50;
  std::function<void(int rank, FakeHost& host)> change = {};
  std::vector<HostPlace> places = {};
  std::function<ProbeHooks(int rank)> hooks = {};
  ProbeJournal done = {};
};

// The result of every rank; ranks are threads.
std::vector<GpuClusterProbe> clusters_of(const Job& job) {
  std::vector<GpuClusterProbe> of_ranks(job.hosts.size());
  run_on_threads(static_cast<int>(job.hosts.size()), [&](Communicator& threads) {
    OnFakeHosts world(threads, job.hosts);
    FakeHost host(job.gpus);
    host.make_collectives = job.make;
    if (job.change) job.change(world.rank(), host);
    GpuClusterOptions options = FakeHost::options();
    options.nccl.total_budget_s = job.nccl_budget_s;
    if (!job.places.empty()) options.cluster.hosts = HostPlaces(job.places);
    if (job.hooks) options.hooks = job.hooks(world.rank());
    options.done = job.done;
    of_ranks[static_cast<std::size_t>(world.rank())] =
        assemble_gpu_cluster(measure_gpu_ranks(world, host.tools(), options), options);
  });
  return of_ranks;
}

std::string failure_of(const Job& job, ErrorKind kind) {
  try {
    static_cast<void>(clusters_of(job));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    return error.what();
  }
  ADD_FAILURE() << "no failure";
  return "";
}

TEST(GpuRanks, EachMeasuresItsOwnAndAllHaveTheSameCluster) {
  const auto probes = clusters_of({fake_hosts(1, 3), 3});
  ASSERT_EQ(probes[0].probe.cluster.device_count(), 3);
  EXPECT_EQ(without_times(probes[0].probe.cluster), without_times(probes[2].probe.cluster));
  const auto& measurements = probes[0].probe.cluster.type_of({0}).measurements;
  EXPECT_TRUE(measurements.contains("nccl/broadcast/8192/bus_bandwidth"));
  EXPECT_NEAR(probes[1].probe.cluster.type_of({1}).flop_per_s.at(Precision::bf16).value / 1e14, 1, 1e-6);
}

TEST(GpuRanks, CollectivesGoOverGrowingGroups) {
  Job job{fake_hosts(2, 2), 2};
  job.places = {{"node0", "east", "e1"}, {"node1", "west", "w1"}};
  const auto probes = clusters_of(job);
  const Cluster& cluster = probes[0].probe.cluster;
  EXPECT_EQ(cluster.nodes()[1].region, "west");
  EXPECT_TRUE(cluster.levels().contains(LinkLevel::between_regions));
  std::set<std::pair<std::string, int>> groups;
  for (const ProbeResult& result : probes[0].probe.results) {
    if (result.name == "nccl/node/all_reduce/8" || result.name == "nccl/all_reduce/8") {
      groups.insert({result.group, result.rank});
    }
  }
  EXPECT_EQ(groups, (std::set<std::pair<std::string, int>>{{"node node0", 0}, {"node node1", 2}, {"all", 0}}));
  const auto& measurements = cluster.type_of({0}).measurements;
  EXPECT_TRUE(measurements.contains("nccl/all_reduce/8/bus_bandwidth"));
  EXPECT_FALSE(measurements.contains("nccl/node/all_reduce/8"));  // there are two
}

TEST(GpuRanks, TheFirstOfAHostCopiesBetweenItsGpus) {
  const auto probes = clusters_of({fake_hosts(2, 2), 2});
  std::set<std::pair<int, int>> copied;
  for (const ProbeResult& result : probes[0].probe.results) {
    if (result.name == "link/8" && result.has_value()) copied.insert({result.rank, result.peer});
  }
  EXPECT_EQ(copied, (std::set<std::pair<int, int>>{{0, 1}, {2, 3}}));
}

TEST(GpuRanks, WithoutNcclCopiesMakeTheClusterOfOneHost) {
  const auto probes = clusters_of({fake_hosts(1, 2), 2, no_nccl});
  EXPECT_NEAR(probes[1].probe.cluster.link({0}, {1}).bytes_per_s.value / 200e9, 1, 1e-3);
}

TEST(GpuRanks, WithoutNcclSeveralHostsFailWithItsReason) {
  EXPECT_THAT(failure_of({fake_hosts(2, 2), 2, no_nccl}, ErrorKind::machine),
              HasSubstr("NCCL could not be loaded"));
}

TEST(GpuRanks, AreOneForEachRank) {
  for (const int gpus : {1, 2}) {  // one that all see, and one too few
    EXPECT_THAT(failure_of({fake_hosts(1, 3), gpus}, ErrorKind::bad_input), HasSubstr("one rank per GPU"));
  }
}

// Each rank is shown its own GPU only; the driver knows the others all the same.
TEST(GpuRanks, ThatSeeOneGpuStillLearnWhyItsNeighboursAreFarAway) {
  Job job{fake_hosts(1, 2), 1};
  job.change = [](int rank, FakeHost& host) {
    host.gpus.first_ = rank;
    host.fabric.status_[{"0000:00:00.0", "0000:01:00.0"}] = PeerStatus::disabled_by_registry_key;
    host.tree.add("pci0000:10", {{"0000:10:01.0"}, {"0000:00:00.0"}});
    host.tree.add("pci0000:10", {{"0000:10:02.0"}, {"0000:01:00.0"}});
  };
  const auto probes = clusters_of(job);
  EXPECT_THAT(probes[1].probe.warnings, Contains(HasSubstr("peer access")));
  EXPECT_EQ(probes[1].links.pairs.at(0).link.kind, LinkKind::host_bridge);
}

// Little time: a pair of each kind and the reason why there are no more; the cluster is whole.
TEST(GpuRanks, FourHostsOfEightAreAWholeClusterWithoutTime) {
  Job job{fake_hosts(4, 8), 8};
  job.nccl_budget_s = 0;
  job.change = [](int, FakeHost& host) {
    host.sensors.absence_ = "no NVML";
  };  // a fraction of the text to exchange
  const auto probes = clusters_of(job);
  const Cluster& cluster = probes[31].probe.cluster;
  ASSERT_EQ(cluster.device_count(), 32);
  EXPECT_NEAR(cluster.link({0}, {31}).bytes_per_s.value / 20e9, 1, 1e-3);
  EXPECT_NEAR(cluster.link({8}, {15}).bytes_per_s.value / 20e9, 1, 1e-3);
  EXPECT_THAT(probes[0].probe.warnings, Contains(HasSubstr("were over after 6 of 496 pairs")));
  EXPECT_THAT(probes[0].probe.warnings, Contains(HasSubstr("108 of 112 links within nodes were not measured")));
  EXPECT_THAT(probes[0].probe.warnings,
              Contains(HasSubstr("382 of 384 links between nodes were not measured")));
}

TEST(GpuRanks, OneRankAHostMeasuresAllItsGpusAndSaysWhatIsMissing) {
  const auto probes = clusters_of({fake_hosts(2, 1), 3});
  const Cluster& cluster = probes[1].probe.cluster;
  ASSERT_EQ(cluster.device_count(), 6);
  EXPECT_EQ(cluster.nodes().size(), 2U);
  EXPECT_EQ(without_times(cluster), without_times(probes[0].probe.cluster));
  std::set<std::pair<int, int>> met;
  for (const ProbeResult& result : probes[0].probe.results) {
    if (result.name == "nccl/pair/8") met.insert({result.rank, result.peer});
  }
  EXPECT_EQ(met, (std::set<std::pair<int, int>>{{0, 1}, {0, 2}, {1, 2}, {3, 4}, {3, 5}, {4, 5}, {0, 3}}));
  EXPECT_THAT(probes[0].probe.warnings, Contains(HasSubstr("start one rank per GPU (srun")));
  EXPECT_THAT(probes[0].probe.warnings, Contains(HasSubstr("8 of 9 links between nodes were not measured")));
  EXPECT_TRUE(cluster.type_of({0}).measurements.contains("nccl/all_reduce/8192"));
}

// The content of rank 0's journal.
struct Heard {
  ProbeJournal journal;
  int turns = 0;

  [[nodiscard]] ProbeHooks hooks() {
    ProbeHooks hooks;
    hooks.on_points = [this](const std::vector<ProbeResult>& points) {
      journal.device_points.insert(journal.device_points.end(), points.begin(), points.end());
    };
    hooks.on_links = [this](const std::vector<ProbeResult>& points) {
      ++turns;
      journal.points.insert(journal.points.end(), points.begin(), points.end());
    };
    hooks.on_collectives = [this](const std::string& level, const std::vector<ProbeResult>& results) {
      journal.levels.insert(level);
      journal.collectives.insert(journal.collectives.end(), results.begin(), results.end());
    };
    return hooks;
  }
};

std::multiset<std::string> names_of(const std::vector<ProbeResult>& results) {
  std::multiset<std::string> names;
  for (const ProbeResult& result : results)
    names.insert(std::to_string(result.rank) + "-" + std::to_string(result.peer) + " " + result.name);
  return names;
}

TEST(GpuRanks, HandOverEveryFinishedMeasurement) {
  Heard heard;
  Job job{fake_hosts(2, 2), 2};
  job.hooks = [&](int rank) { return rank == 0 ? heard.hooks() : ProbeHooks{}; };
  const auto probes = clusters_of(job);
  const std::size_t points = gpu_points(FakeHost(1).gpus.list().front(), {}).size();
  const std::size_t copies =
      gpu_link_points(1).size() + gpu_peer_points(1, true).size() + gpu_peer_points(0, false).size();
  EXPECT_EQ(heard.journal.device_points.size(), 4 * points + 2 * copies);
  EXPECT_EQ(measured_pairs(heard.journal.points).size(), 6U);
  EXPECT_EQ(heard.journal.levels, (std::set<std::string>{"all", "node"}));
  EXPECT_TRUE(probes[0].probe.is_whole());
}

// Told to stop after a turn: what there is is a cluster, and who goes on measures the rest alone.
TEST(GpuRanks, GoOnWhereTheyWereStopped) {
  Heard first;
  Job job{fake_hosts(2, 2), 2};
  job.hooks = [&](int rank) {
    ProbeHooks hooks = rank == 0 ? first.hooks() : ProbeHooks{};
    if (rank == 0) hooks.should_stop = [&first] { return first.turns >= 1; };
    return hooks;
  };
  const auto stopped = clusters_of(job);
  EXPECT_EQ(first.turns, 1);
  EXPECT_TRUE(first.journal.levels.empty());
  for (const GpuClusterProbe& probe : stopped) EXPECT_TRUE(probe.probe.is_interrupted);
  EXPECT_EQ(stopped[3].probe.why_no_cluster, "");
  EXPECT_EQ(stopped[3].probe.cluster.device_count(), 4);

  Heard second;
  job.done = first.journal;
  job.hooks = [&](int rank) { return rank == 0 ? second.hooks() : ProbeHooks{}; };
  const auto resumed = clusters_of(job);
  EXPECT_TRUE(second.journal.device_points.empty());
  EXPECT_EQ(measured_pairs(second.journal.points).size() + measured_pairs(first.journal.points).size(), 6U);
  const auto whole = clusters_of({fake_hosts(2, 2), 2});
  EXPECT_TRUE(resumed[1].probe.is_whole());
  EXPECT_EQ(without_times(resumed[1].probe.cluster), without_times(resumed[2].probe.cluster));
  EXPECT_EQ(resumed[1].probe.cluster.device_count(), 4);
  EXPECT_EQ(names_of(resumed[1].probe.results), names_of(whole[1].probe.results));
}

// In each of the three ways: ended when some of the points were there, the others alone are measured.
TEST(GpuRanks, APointThatWasMeasuredIsNotMeasuredAgain) {
  const std::vector<Job> ways = {{fake_hosts(2, 2), 2, on_host_memory},
                                 {fake_hosts(2, 1), 2, on_host_memory},
                                 {fake_hosts(1, 1), 2, on_host_memory}};
  for (Job job : ways) {
    Heard first;
    job.hooks = [&](int rank) { return rank == 0 ? first.hooks() : ProbeHooks{}; };
    const auto whole = clusters_of(job);
    ProbeJournal half;
    for (std::size_t at = 0; at < first.journal.device_points.size(); at += 2) {
      half.device_points.push_back(first.journal.device_points[at]);
    }
    for (const ProbeResult& point : first.journal.points) {
      if (point.rank == 0 && point.peer == 1) half.points.push_back(point);
    }
    Heard second;
    job.done = half;
    job.hooks = [&](int rank) { return rank == 0 ? second.hooks() : ProbeHooks{}; };
    const auto resumed = clusters_of(job);
    EXPECT_EQ(second.journal.device_points.size() + half.device_points.size(),
              first.journal.device_points.size());
    EXPECT_EQ(second.journal.points.size() + half.points.size(), first.journal.points.size());
    EXPECT_EQ(half.points.size(), 3U);
    EXPECT_EQ(names_of(resumed[0].probe.results), names_of(whole[0].probe.results));
    EXPECT_EQ(resumed[0].probe.cluster.device_count(), whole[0].probe.cluster.device_count());

    Heard third;  // all of it is there
    job.done = first.journal;
    job.hooks = [&](int rank) { return rank == 0 ? third.hooks() : ProbeHooks{}; };
    EXPECT_EQ(names_of(clusters_of(job)[0].probe.results), names_of(whole[0].probe.results));
    EXPECT_TRUE(third.journal.device_points.empty());
    EXPECT_TRUE(third.journal.points.empty());
    EXPECT_TRUE(third.journal.collectives.empty());
  }
}

// Rank 2 hangs in its GPU: it is named, the others' GPUs make a cluster, and nobody waits for NCCL.
TEST(GpuRanks, ARankThatHangsInItsGpuIsNamedAndTheRestGoesOn) {
  std::latch others_are_done(3);
  std::vector<GpuClusterProbe> of_ranks(4);
  run_on_threads(4, [&](Communicator& threads) {
    OnFakeHosts world(threads, {"a", "a", "b", "c"});
    FakeHost host(2);
    host.make_collectives = on_host_memory;
    GpuClusterOptions options = FakeHost::options();
    options.silence_s = 3;
    if (world.rank() == 2) {
      options.hooks.on_step = [&](const std::string& what) {
        if (!what.starts_with("GPUs: launch")) return;
        others_are_done.wait();
        throw_machine_failed("it hung");
      };
    }
    try {
      of_ranks[static_cast<std::size_t>(world.rank())] =
          assemble_gpu_cluster(measure_gpu_ranks(world, host.tools(), options), options);
      others_are_done.count_down();
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "it hung");
      EXPECT_EQ(world.rank(), 2);
    }
  });
  for (const int rank : {0, 1, 3}) {
    const ClusterProbe& probe = of_ranks[static_cast<std::size_t>(rank)].probe;
    ASSERT_EQ(probe.lost.size(), 1U);
    EXPECT_THAT(probe.lost.at(2), HasSubstr("rank 2 on b sent nothing for 3.00 s while GPUs were measured"));
  }
  const ClusterProbe& probe = of_ranks[0].probe;
  EXPECT_EQ(probe.why_no_cluster, "");
  EXPECT_EQ(probe.cluster.device_count(), 3);
  EXPECT_EQ(probe.cluster.nodes().size(), 2U);
  EXPECT_THAT(probe.warnings, Contains(HasSubstr("rank 2 on b")));
}

// The results that are left if rank 3 is lost after the first level of collectives, with a GPU for each rank
// and with a rank for each host.
TEST(GpuRanks, WhatIsLeftOfNcclIsADocumentOfWhatWasFinished) {
  for (Job job : {Job{fake_hosts(2, 2), 2}, Job{fake_hosts(4, 1), 2}}) {
    ProbeHooks::Remains remains;
    std::optional<ClusterProbe> left;
    job.hooks = [&](int rank) {
      ProbeHooks hooks;
      if (rank != 0) return hooks;
      hooks.on_remains = [&](const ProbeHooks::Remains& asked) { remains = asked; };
      hooks.on_collectives = [&](const std::string&, const std::vector<ProbeResult>&) {
        if (!left) left = remains({{3, "rank 3 on node1 gave no sign of life"}});
      };
      return hooks;
    };
    const auto whole = clusters_of(job);
    ASSERT_TRUE(left.has_value());
    EXPECT_EQ(left->lost.size(), 1U);
    EXPECT_FALSE(left->is_whole());
    EXPECT_EQ(left->why_no_cluster, "");
    EXPECT_EQ(left->cluster.device_count(), whole[0].probe.cluster.device_count());
    EXPECT_THAT(left->warnings,
                Contains(HasSubstr("rank 3 on node1 gave no sign of life: measurements continued")));
    const auto has = [&](const std::string& name) {
      return std::any_of(left->results.begin(), left->results.end(),
                         [&](const ProbeResult& result) { return result.name == name; });
    };
    EXPECT_TRUE(has("nccl/pair/8"));
    EXPECT_TRUE(has("gemm/bf16/8192"));
  }
}

// The pairs within hosts are in the reports of a resumed probe already when NCCL between hosts begins.
TEST(GpuRanks, WhatIsLeftOfAResumedProbeHasEachPairOnce) {
  Heard first;
  Job job{fake_hosts(3, 1), 2};
  job.hooks = [&](int rank) { return rank == 0 ? first.hooks() : ProbeHooks{}; };
  static_cast<void>(clusters_of(job));
  job.done.device_points = first.journal.device_points;
  job.done.points = first.journal.points;
  std::optional<ClusterProbe> left;
  ProbeHooks::Remains remains;
  job.hooks = [&](int rank) {
    ProbeHooks hooks;
    if (rank != 0) return hooks;
    hooks.on_remains = [&](const ProbeHooks::Remains& asked) { remains = asked; };
    hooks.on_collectives = [&](const std::string&, const auto&) { left = remains({{2, "rank 2 is silent"}}); };
    return hooks;
  };
  static_cast<void>(clusters_of(job));
  ASSERT_TRUE(left.has_value());
  std::erase_if(left->results,
                [](const ProbeResult& result) { return !result.name.starts_with("nccl/pair/"); });
  const std::multiset<std::string> names = names_of(left->results);
  EXPECT_EQ(names.size(), first.journal.points.size());
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
}

TEST(GpuRanks, GpusWithoutARankAreNamed) {
  const auto probes = clusters_of({fake_hosts(2, 2), 4});
  EXPECT_THAT(
      probes[3].probe.warnings,
      Contains(HasSubstr("node1 has 4 GPUs and 2 ranks: 2 of its GPUs are not measured; start one rank per "
                         "GPU (srun --ntasks-per-node=4")));
  EXPECT_THAT(clusters_of({fake_hosts(2, 2), 2})[0].probe.warnings, Each(Not(HasSubstr("not measured"))));
}

}  // namespace
}  // namespace sextant
