#include "probes/assembly/cluster_assembly.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sextant/error.h"
#include "tests/probes/report/reports.h"

namespace sextant {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(DeviceTypeName, IsASlugOfTheModel) {
  EXPECT_EQ(device_type_name("AMD EPYC"), "amd-epyc-core");
  EXPECT_EQ(device_type_name("AMD EPYC 9654 96-Core Processor"), "amd-epyc-9654-core");
  EXPECT_EQ(device_type_name("Intel(R) Xeon(R) Platinum 8480C CPU @ 2.00GHz"),
            "intel-xeon-platinum-8480c-core");
  EXPECT_EQ(device_type_name("unknown CPU"), "unknown-core");
  EXPECT_EQ(device_type_name(""), "core");
}

TEST(AssembleCluster, OneRankHasADeviceAndNoLinks) {
  const AssembledCluster assembled = assemble_cluster({}, {rank_report(0, "a")});
  const Cluster& cluster = assembled.cluster;
  EXPECT_EQ(cluster.device_count(), 1);
  EXPECT_THAT(cluster.levels(), IsEmpty());
  EXPECT_THAT(assembled.warnings, IsEmpty());
  const DeviceType& type = cluster.device_types().at("amd-epyc-9654-core");
  EXPECT_EQ(type.kind, DeviceKind::cpu);
  EXPECT_EQ(type.flop_per_s.at(Precision::fp32).value, 100e9);  // not the model's shape, which is faster
  EXPECT_EQ(type.flop_per_s.at(Precision::fp64).value, 50e9);
  EXPECT_EQ(type.flop_per_s.count(Precision::bf16), 0U);
  EXPECT_EQ(type.memory_bytes_per_s.value, 10e9);
  EXPECT_EQ(type.memory_bytes.value, 4e9);
  EXPECT_EQ(type.memory_bytes_per_s.source, Source::measured);
  EXPECT_EQ(type.memory_bytes_per_s.spread_fraction, 0.01);
  EXPECT_TRUE(type.memory_bytes_per_s.time_utc.has_value());
}

TEST(AssembleCluster, TypesHaveTheMedianAndOddRanksAreNamed) {
  std::vector<RankReport> reports = {rank_report(0, "a", 100e9), rank_report(1, "b", 104e9),
                                     rank_report(2, "c", 70e9)};
  for (int low = 0; low < 3; ++low) {
    for (int high = low + 1; high < 3; ++high)
      add_link(reports[static_cast<std::size_t>(low)], high, 1e-6, 1e9);
  }
  const AssembledCluster assembled = assemble_cluster({}, reports);
  const Quantity rate = assembled.cluster.device_types().begin()->second.flop_per_s.at(Precision::fp32);
  EXPECT_EQ(rate.value, 100e9);
  EXPECT_NEAR(rate.spread_fraction.value(), 0.17, 1e-12);  // half of 70 to 104 over 100
  EXPECT_THAT(
      assembled.warnings,
      Contains(HasSubstr("c/0 (rank 2) has 30.0 % less fp32 GEMM rate than the median of its type (82.8 % sure "
                         "that it is an outlier among 3)")));
  EXPECT_THAT(assembled.warnings, Not(Contains(HasSubstr("rank 1"))));
}

// Reports of ranks with these rates, a host each, and all links alike.
std::vector<RankReport> ranks_with(const std::vector<double>& flop_per_s) {
  std::vector<RankReport> reports;
  for (std::size_t rank = 0; rank < flop_per_s.size(); ++rank) {
    reports.push_back(
        rank_report(static_cast<int>(rank), std::string(1, static_cast<char>('a' + rank)), flop_per_s[rank]));
  }
  for (RankReport& low : reports) {
    for (int high = low.rank + 1; high < static_cast<int>(reports.size()); ++high)
      add_link(low, high, 1e-6, 1e9);
  }
  return reports;
}

TEST(AssembleCluster, OfTwoRanksNobodyCanTellWhichIsOdd) {
  const auto warnings = assemble_cluster({}, ranks_with({100e9, 80e9})).warnings;
  EXPECT_THAT(
      warnings,
      Contains(HasSubstr(
          "fp32 GEMM rate: a/0 (rank 0) and b/0 (rank 1) differ by 25.0 % (99.9 % sure); with only two, "
          "the outlier cannot be identified")));
  EXPECT_EQ(warnings.size(), 2U) << "one for each precision";
}

TEST(AssembleCluster, RanksThatScatterAreNotCalledOdd) {
  EXPECT_THAT(
      assemble_cluster({}, ranks_with({100e9, 70e9, 130e9, 90e9, 115e9})).warnings,
      Contains(HasSubstr("c/0 (rank 2) has 30.0 % more fp32 GEMM rate than the median of its type (possibly by "
                         "chance among 5)")));
}

TEST(AssembleCluster, HostsOfAnotherModelAreAnotherType) {
  std::vector<RankReport> reports = {rank_report(0, "a"), rank_report(1, "b", 10e9)};
  reports[1].cpu_model = "Slow CPU";
  add_link(reports[0], 1, 1e-5, 1e9);
  const AssembledCluster assembled = assemble_cluster({}, reports);
  EXPECT_EQ(assembled.cluster.device_types().size(), 2U);
  EXPECT_EQ(assembled.cluster.type_name({1}), "slow-core");
  EXPECT_THAT(assembled.warnings, IsEmpty());
}

// Ranks 0 and 1 on host a, 2 and 3 on b: inside 1 us, between 10 us.
std::vector<RankReport> two_hosts() {
  std::vector<RankReport> reports = {rank_report(0, "a"), rank_report(1, "a"), rank_report(2, "b"),
                                     rank_report(3, "b")};
  add_link(reports[0], 1, 1e-6, 10e9);
  add_link(reports[2], 3, 1e-6, 10e9);
  add_link(reports[0], 2, 1e-5, 1e9);
  add_link(reports[0], 3, 1e-5, 1e9);
  add_link(reports[1], 2, 1e-5, 1e9);
  add_link(reports[1], 3, 1e-5, 1e9);
  return reports;
}

TEST(AssembleCluster, LevelsAreWithinAndBetweenHosts) {
  const Cluster cluster = assemble_cluster({"lab", HostPlaces("east", "rack")}, two_hosts()).cluster;
  EXPECT_EQ(cluster.name(), "lab");
  ASSERT_EQ(cluster.nodes().size(), 2U);
  EXPECT_EQ(cluster.nodes()[1].name, "b");
  EXPECT_EQ(cluster.nodes()[1].devices, 2);
  EXPECT_EQ(cluster.nodes()[1].region, "east");
  EXPECT_NEAR(cluster.levels().at(LinkLevel::within_node).latency_s.value, 1e-6, 1e-13);
  EXPECT_NEAR(cluster.levels().at(LinkLevel::within_zone).bytes_per_s.value / 1e9, 1, 1e-6);
  EXPECT_THAT(cluster.exceptions(), IsEmpty());
}

TEST(AssembleCluster, AFarOffPairIsAnException) {
  std::vector<RankReport> reports = two_hosts();
  reports[1].results.resize(reports[1].results.size() - 3);  // measure 1-3 again, slower
  add_link(reports[1], 3, 1e-5, 0.6e9);
  const AssembledCluster assembled = assemble_cluster({}, reports);
  ASSERT_EQ(assembled.cluster.exceptions().size(), 1U);
  const LinkException& exception = assembled.cluster.exceptions().front();
  EXPECT_EQ(exception.from, "a/1");
  EXPECT_EQ(exception.to, "b/1");
  EXPECT_NEAR(assembled.cluster.link({1}, {3}).bytes_per_s.value / 0.6e9, 1, 1e-6);
  EXPECT_NEAR(assembled.cluster.link({0}, {3}).bytes_per_s.value / 1e9, 1, 1e-6);
  EXPECT_THAT(assembled.warnings, Contains(HasSubstr("a/1 and b/1")));
}

TEST(AssembleCluster, DevicesGoHostByHostWhateverTheRanksDo) {
  std::vector<RankReport> reports = {rank_report(0, "a"), rank_report(1, "b"), rank_report(2, "a")};
  add_link(reports[0], 1, 1e-5, 1e9);
  add_link(reports[0], 2, 1e-6, 10e9);
  add_link(reports[1], 2, 1e-5, 1e9);
  const AssembledCluster assembled = assemble_cluster({}, reports);
  EXPECT_THAT(assembled.device_of_rank, ElementsAre(DeviceId{0}, DeviceId{2}, DeviceId{1}));
  EXPECT_THAT(assembled.warnings, Contains(HasSubstr("--map-by slot")));
}

TEST(AssembleCluster, RanksOnOneCpuAreNamed) {
  std::vector<RankReport> reports = {rank_report(0, "a"), rank_report(1, "a")};
  reports[1].cpu = 0;
  add_link(reports[0], 1, 1e-6, 1e9);
  EXPECT_THAT(assemble_cluster({}, reports).warnings, Contains(HasSubstr("share CPU 0")));
}

void expect_machine_failure(const std::vector<RankReport>& reports, const std::string& message) {
  try {
    static_cast<void>(assemble_cluster({}, reports));
    ADD_FAILURE() << "assembled without " << message;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::machine);
    EXPECT_THAT(error.what(), HasSubstr(message));
  }
}

TEST(AssembleCluster, WhatACommonClusterNeedsMustBeThere) {
  std::vector<RankReport> reports = {rank_report(0, "a")};
  reports[0].results[5] = failed_result(reports[0].results[5], "faulty memory");
  expect_machine_failure(reports, "faulty memory");
  reports = {rank_report(0, "a")};
  reports[0].memory_bytes = 0;
  expect_machine_failure(reports, "memory/capacity");
  reports = {rank_report(0, "a"), rank_report(1, "b")};
  add_link(reports[0], 1, 1e-6, 1e9);
  reports[0].results.back() = failed_result(reports[0].results.back(), "changed");
  expect_machine_failure(reports,
                         "no link between nodes could be measured: a/0 and b/0 (link/1048576: changed)");
}

TEST(AssembleCluster, APairThatFailedIsNamedAndTheRestIsKept) {
  std::vector<RankReport> reports = two_hosts();
  reports[0].results.back() = failed_result(reports[0].results.back(), "changed");
  const AssembledCluster assembled = assemble_cluster({}, reports);
  EXPECT_NEAR(assembled.cluster.link({0}, {3}).bytes_per_s.value / 1e9, 1, 1e-6);
  EXPECT_THAT(assembled.warnings,
              ElementsAre(AllOf(HasSubstr("1 of 4 links between nodes were not measured: a/0 "
                                          "and b/1 (link/1048576: changed)"),
                                HasSubstr("median"))));
}

}  // namespace
}  // namespace sextant
