#include "cli/watchdog.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace sextant::cli {
namespace {

TEST(WatchdogDeathTest, EndsTheProgramWhenNothingIsHeard) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        Watchdog watchdog(0.05, "; see the journal");
        watchdog.hear("links");
        std::this_thread::sleep_for(std::chrono::minutes(1));
      },
      ::testing::ExitedWithCode(3), "sextant: links: nothing has moved for 50.0 ms, .*; see the journal");
}

TEST(Watchdog, LeavesQuietlyInTime) {
  Watchdog watchdog(60, "");
  watchdog.hear("links");
}

}  // namespace
}  // namespace sextant::cli
