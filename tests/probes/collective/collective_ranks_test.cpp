// The same over MPI, on three ranks.
#include <gtest/gtest.h>

#include "probes/collective/collective_probe.h"
#include "tests/probes/collective/host_collectives.h"
#include "tests/probes/comm/ranks.h"

namespace sextant {
namespace {

using test::world;

CollectiveOptions quick() {
  CollectiveOptions options;
  options.sampling = sampling_options(0.002, 0.5);
  options.sampling.stopping.max_samples = 8;
  options.max_bytes = 1 << 16;
  options.pair_bytes = {8, 4096, 65536};
  return options;
}

TEST(CollectiveRanks, MeasureEveryCollective) {
  HostCollectives library(world());
  const auto results = measure_collectives(world(), library, quick());
  if (world().rank() != 0) {
    EXPECT_TRUE(results.empty());
    return;
  }
  EXPECT_GT(results.size(), 40U);
  for (const ProbeResult& result : results) {
    EXPECT_TRUE(result.has_value()) << result.name << ": " << result.sentence;
    EXPECT_GT(result.value, 0);
  }
}

TEST(CollectiveRanks, MeasureEveryPair) {
  HostCollectives library(world());
  const auto led = measure_pairs(world(), library, quick());
  EXPECT_EQ(led.size(), static_cast<std::size_t>(3 * (2 - world().rank())));
  for (const ProbeResult& result : led) EXPECT_TRUE(result.has_value()) << result.sentence;
}

TEST(CollectiveRanks, FailTogetherWhenOneHasNoMemory) {
  HostCollectives library(world());
  library.on_prepare_ = [](const CollectiveShape& shape) {
    if (world().rank() == 2 && shape.kind == CollectiveKind::broadcast) throw_machine_failed("out of memory");
  };
  for (const ProbeResult& result : measure_collectives(world(), library, quick())) {
    const bool is_broadcast = result.name.find("broadcast") != std::string::npos;
    EXPECT_EQ(result.outcome == ProbeOutcome::failed, is_broadcast) << result.name;
  }
}

}  // namespace
}  // namespace sextant
