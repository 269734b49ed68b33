#include "probes/harness/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/probes/harness/fake_root.h"

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A quiet host with two CPUs that share a cache.
void write_quiet_host(const FakeRoot& root) {
  root.write("/proc/cpuinfo",
             "processor\t: 0\nmodel name\t: Some(R) CPU 9 @ 2.0GHz\nflags\t\t: fpu avx2 sse\n\n"
             "processor\t: 1\nmodel name\t: Some(R) CPU 9 @ 2.0GHz\nflags\t\t: fpu avx2 sse\n");
  root.write("/proc/loadavg", "0.25 0.10 0.05 1/100 4242");
  root.write("/proc/meminfo", "MemTotal: 2000 kB\nMemFree: 10 kB\nMemAvailable:    1000 kB");
  root.write("/proc/self/cgroup", "0::/job.slice/step");
  const std::string cpu0 = "/sys/devices/system/cpu/cpu0/";
  root.write(cpu0 + "cpufreq/scaling_governor", "performance");
  root.write(cpu0 + "thermal_throttle/core_throttle_count", "0");
  const auto cache = [&](const std::string& index, const char* level, const char* type, const char* size,
                         const char* cpus) {
    root.write(cpu0 + "cache/" + index + "/level", level);
    root.write(cpu0 + "cache/" + index + "/type", type);
    root.write(cpu0 + "cache/" + index + "/size", size);
    root.write(cpu0 + "cache/" + index + "/shared_cpu_list", cpus);
  };
  cache("index0", "1", "Data", "48K", "0");
  cache("index1", "1", "Instruction", "32K", "0");
  cache("index2", "2", "Unified", "1024K", "0");
  cache("index3", "3", "Unified", "32768K", "0-1");
}

std::vector<EnvironmentWarning> judged(const FakeRoot& root, int ranks = 1, int usable_cpus = 2) {
  return judge_environment(read_environment(root.files()), ranks, usable_cpus);
}

TEST(Environment, ReadsTheFactsOfAHost) {
  const FakeRoot root;
  write_quiet_host(root);
  const EnvironmentFacts facts = read_environment(root.files());
  EXPECT_EQ(facts.cpu_model, "Some(R) CPU 9 @ 2.0GHz");
  EXPECT_EQ(facts.online_cpus, 2);
  EXPECT_FALSE(facts.has_hypervisor);
  EXPECT_THAT(facts.governors, ElementsAre("performance"));
  EXPECT_TRUE(facts.shows_throttle_events);
  EXPECT_EQ(facts.load_average, 0.25);
  EXPECT_FALSE(facts.quota_cpus.has_value());
  EXPECT_EQ(facts.second_level_cache_bytes, 1024.0 * 1024);
  EXPECT_EQ(facts.last_level_cache_bytes, 32.0 * 1024 * 1024);
  EXPECT_EQ(facts.last_level_cache_cpus, 2);
  EXPECT_EQ(facts.memory_available_bytes, 1000.0 * 1024);
}

TEST(Environment, AnEmptyRootGivesUnknownsAndNoWarnings) {
  const FakeRoot root;
  const EnvironmentFacts facts = read_environment(root.files());
  EXPECT_EQ(facts.cpu_model, "unknown CPU");
  EXPECT_EQ(facts.memory_available_bytes, 0);
  EXPECT_THAT(judged(root), IsEmpty());
}

TEST(Environment, AQuietHostHasNoWarnings) {
  const FakeRoot root;
  write_quiet_host(root);
  EXPECT_THAT(judged(root), IsEmpty());
}

// Each fault alone gives exactly one warning, which says what was seen.
void expect_one(const std::vector<EnvironmentWarning>& warnings, const std::string& seen) {
  ASSERT_EQ(warnings.size(), 1U) << seen;
  EXPECT_THAT(warnings.front().seen, HasSubstr(seen));
  EXPECT_FALSE(warnings.front().why.empty());
  EXPECT_FALSE(warnings.front().advice.empty());
}

TEST(EnvironmentWarning, Governor) {
  const FakeRoot root;
  write_quiet_host(root);
  root.write("/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave");
  expect_one(judged(root), "performance, powersave");
}

TEST(EnvironmentWarning, BoostWithIdleCpus) {
  const FakeRoot root;
  write_quiet_host(root);
  root.write("/sys/devices/system/cpu/cpufreq/boost", "1");
  expect_one(judged(root, 1), "1 of 2 CPUs have no rank");
  EXPECT_THAT(judged(root, 2), IsEmpty());
  root.write("/sys/devices/system/cpu/cpufreq/boost", "0");
  EXPECT_THAT(judged(root, 1), IsEmpty());
}

TEST(EnvironmentWarning, IntelsSwitchIsTheOtherWayRound) {
  const FakeRoot root;
  write_quiet_host(root);
  root.write("/sys/devices/system/cpu/intel_pstate/no_turbo", "0");
  expect_one(judged(root, 1), "boost is on");
}

TEST(EnvironmentWarning, ThrottledSinceBoot) {
  const FakeRoot root;
  write_quiet_host(root);
  root.write("/sys/devices/system/cpu/cpu1/thermal_throttle/package_throttle_count", "7");
  expect_one(judged(root), "7.00 times since boot");
}

TEST(EnvironmentWarning, ThrottledWhileMeasuring) {
  const FakeRoot root;
  write_quiet_host(root);
  const EnvironmentFacts before = read_environment(root.files());
  EXPECT_THAT(judge_change(before, before), IsEmpty());
  root.write("/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "3");
  expect_one(judge_change(before, read_environment(root.files())), "during the probe");
}

TEST(EnvironmentWarning, LoadAboveOurRanks) {
  const FakeRoot root;
  write_quiet_host(root);
  root.write("/proc/loadavg", "1.75 1.0 0.5 3/100 1");
  expect_one(judged(root, 1), "1.75");
  EXPECT_THAT(judged(root, 2), IsEmpty());
}

TEST(EnvironmentWarning, MoreRanksThanCpus) {
  const FakeRoot root;
  write_quiet_host(root);
  expect_one(judged(root, 3, 2), "3 ranks on a host where they may use 2 CPUs");
}

TEST(EnvironmentWarning, QuotaOfTheUnifiedControlGroup) {
  const FakeRoot root;
  write_quiet_host(root);
  root.write("/sys/fs/cgroup/job.slice/step/cpu.max", "150000 100000");
  EXPECT_EQ(read_environment(root.files()).quota_cpus, 1.5);
  EXPECT_THAT(judged(root, 1), IsEmpty());
  expect_one(judged(root, 2), "1.50 CPUs");
  root.write("/sys/fs/cgroup/job.slice/step/cpu.max", "max 100000");
  EXPECT_FALSE(read_environment(root.files()).quota_cpus.has_value());
}

TEST(EnvironmentWarning, QuotaOfTheFirstVersion) {
  const FakeRoot root;
  write_quiet_host(root);
  root.write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000");
  root.write("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
  expect_one(judged(root, 1), "0.5");
  root.write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1");
  EXPECT_THAT(judged(root, 1), IsEmpty());
}

TEST(EnvironmentWarning, VirtualMachine) {
  const FakeRoot root;
  write_quiet_host(root);
  root.write("/proc/cpuinfo", "processor\t: 0\nmodel name\t: X\nflags\t\t: fpu hypervisor sse");
  expect_one(judged(root), "virtual machine");
}

TEST(EnvironmentWarning, BlasOlderThanTheCpu) {
  EnvironmentFacts facts;
  const std::string old_blas = "OpenBLAS 0.3.21 DYNAMIC_ARCH Haswell MAX_THREADS=64";
  EXPECT_THAT(judge_gemm_library(facts, old_blas), IsEmpty());
  facts.has_avx512 = true;
  expect_one(judge_gemm_library(facts, old_blas), "Haswell");
  EXPECT_THAT(judge_gemm_library(facts, "OpenBLAS 0.3.21 SkylakeX MAX_THREADS=64"), IsEmpty());
}

TEST(EnvironmentFacts, AMemoryLimitOfTheContainerCounts) {
  const FakeRoot root;
  write_quiet_host(root);
  root.write("/sys/fs/cgroup/memory.max", "500000");
  root.write("/sys/fs/cgroup/memory.current", "100000");
  EXPECT_EQ(read_environment(root.files()).memory_available_bytes, 400000);
  root.write("/sys/fs/cgroup/memory.max", "max");
  EXPECT_EQ(read_environment(root.files()).memory_available_bytes, 1000.0 * 1024);
}

}  // namespace
}  // namespace sextant
