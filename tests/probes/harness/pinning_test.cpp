#include "probes/harness/pinning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant {
namespace {

using testing::ElementsAre;

TEST(ChooseCpu, TakesTheNthAllowedAndStartsAgain) {
  EXPECT_EQ(choose_cpu({2, 5, 7}, 0), 2);
  EXPECT_EQ(choose_cpu({2, 5, 7}, 2), 7);
  EXPECT_EQ(choose_cpu({2, 5, 7}, 3), 2);
  EXPECT_EQ(choose_cpu({}, 0), std::nullopt);
}

TEST(Pinned, HasOneCpuAndGivesTheOthersBack) {
  const std::vector<int> before = allowed_cpus();
  ASSERT_FALSE(before.empty());
  {
    const Pinned pinned(0);
    if (!pinned.cpu()) GTEST_SKIP() << "this system does not let a process choose its CPU";
    EXPECT_THAT(allowed_cpus(), ElementsAre(*pinned.cpu()));
    EXPECT_EQ(pinned.allowed_before(), before);
  }
  EXPECT_EQ(allowed_cpus(), before);
}

}  // namespace
}  // namespace sextant
