#include "probes/host/memory_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace sextant {
namespace {

using testing::HasSubstr;

constexpr double kMiB = 1024.0 * 1024.0;

EnvironmentFacts facts_with_cache(double last_level_bytes, int shared_by) {
  EnvironmentFacts facts;
  facts.last_level_cache_bytes = last_level_bytes;
  facts.last_level_cache_cpus = shared_by;
  facts.second_level_cache_bytes = kMiB;
  return facts;
}

TEST(ChooseMemorySizes, FourTimesTheLastLevelCache) {
  const MemorySizes sizes = choose_memory_sizes(facts_with_cache(32 * kMiB, 2), 2, 8192 * kMiB);
  EXPECT_EQ(sizes.main_bytes, 128 * kMiB);
  EXPECT_TRUE(sizes.is_far_beyond_cache);
  EXPECT_EQ(sizes.last_level_bytes, 8 * kMiB);  // two ranks share it
  EXPECT_EQ(sizes.second_level_bytes, kMiB / 2);
}

TEST(ChooseMemorySizes, RanksBeyondTheCachesCpusHaveCachesOfTheirOwn) {
  EXPECT_EQ(choose_memory_sizes(facts_with_cache(32 * kMiB, 8), 64, 8192 * kMiB).last_level_bytes, 2 * kMiB);
}

TEST(ChooseMemorySizes, SmallCachesStillGetLargeArrays) {
  EXPECT_EQ(choose_memory_sizes(facts_with_cache(2 * kMiB, 1), 1, 8192 * kMiB).main_bytes, 64 * kMiB);
}

TEST(ChooseMemorySizes, AShareOfALargeCacheIsNoLargerThanTheMemoryAllows) {
  EXPECT_EQ(choose_memory_sizes(facts_with_cache(512 * kMiB, 1), 1, 64 * kMiB).last_level_bytes, 16 * kMiB);
}

TEST(ChooseMemorySizes, LittleMemoryIsSaid) {
  const MemorySizes sizes = choose_memory_sizes(facts_with_cache(32 * kMiB, 1), 1, 256 * kMiB);
  EXPECT_EQ(sizes.main_bytes, 64 * kMiB);
  EXPECT_FALSE(sizes.is_far_beyond_cache);
}

ProbeContext short_context() {
  ProbeContext context;
  context.sampling = sampling_options(1e-3, 0.02);
  return context;
}

TEST(MeasureMemory, EveryPointIsPositiveAndVerified) {
  MemorySizes sizes;
  sizes.main_bytes = 4 * kMiB;
  sizes.last_level_bytes = kMiB;
  sizes.second_level_bytes = 64 * 1024;
  const auto results = measure_memory(sizes, short_context());
  std::vector<std::string> names;
  for (const ProbeResult& result : results) {
    names.push_back(result.name);
    EXPECT_TRUE(result.has_value()) << result.name << ": " << result.sentence;
    EXPECT_GT(result.value, 0) << result.name;
    EXPECT_TRUE(std::isfinite(result.value)) << result.name;
    EXPECT_EQ(result.unit, "bytes/s");
  }
  EXPECT_THAT(names, testing::ElementsAre("memory/copy", "memory/triad", "memory/read", "memory/read/llc",
                                          "memory/read/l2"));
  // Bytes as STREAM counts them.
  EXPECT_EQ(results[0].work, 2 * 4 * kMiB);
  EXPECT_EQ(results[1].work, 3 * 4 * kMiB);
  EXPECT_EQ(results[2].work, 4 * kMiB);
}

TEST(MeasureMemory, UnknownCachesAndMissingMemoryAreWaived) {
  MemorySizes sizes;
  sizes.main_bytes = kMiB;
  sizes.is_far_beyond_cache = false;
  const auto results = measure_memory(sizes, short_context());
  ASSERT_EQ(results.size(), 5U);
  EXPECT_THAT(results[2].sentence, HasSubstr("less than four times the last-level cache"));
  EXPECT_EQ(results[3].outcome, ProbeOutcome::waived);
  EXPECT_EQ(results[4].outcome, ProbeOutcome::waived);
  for (const ProbeResult& result : measure_memory({}, short_context())) {
    EXPECT_EQ(result.outcome, ProbeOutcome::waived);
  }
}

}  // namespace
}  // namespace sextant
