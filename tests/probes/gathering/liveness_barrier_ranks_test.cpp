// Over real messages between processes.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "probes/gathering/liveness_barrier.h"
#include "tests/probes/comm/ranks.h"

namespace sextant {
namespace {

TEST(MusterOnRanks, HearsFromAllInTheirOrder) {
  const int size = test::world().size();
  std::vector<std::string> told(static_cast<std::size_t>(size));
  LivenessBarrier muster(test::world(), {30, 60}, [&](int rank, const std::string& text) {
    told[static_cast<std::size_t>(rank)] += text;
  });
  const std::string large(100'000, 'x');  // more than goes out at once
  for (int round = 0; round < 3; ++round) {
    muster.tell("a");
    muster.tell(large);
    EXPECT_TRUE(muster.any(test::world().rank() == size - 1));
    EXPECT_FALSE(muster.any(false));
    muster.meet("texts were told");
    EXPECT_TRUE(muster.lost().empty());
  }
  if (test::world().rank() != 0) return;
  const std::string one = "a" + large;
  for (const std::string& text : told) EXPECT_EQ(text, one + one + one);
}

}  // namespace
}  // namespace sextant
