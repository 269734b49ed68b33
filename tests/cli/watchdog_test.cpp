#include "cli/probe/watchdog.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "probes/comm/thread_communicator.h"
#include "tests/probes/comm/fake_hosts.h"

namespace sextant::cli {
namespace {

void wait_for_the_end() { std::this_thread::sleep_for(std::chrono::minutes(1)); }

TEST(WatchdogDeathTest, EndsTheProgramWhenNothingIsHeard) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        Watchdog watchdog({0.05, 30, "; see the journal"});
        watchdog.hear("links");
        wait_for_the_end();
      },
      ::testing::ExitedWithCode(3), "sextant: links: no progress for 50.0 ms, .*; see the journal");
}

// Rank 1 gives one sign of life and then none, as if it had been stopped.
void run_two_ranks_of_which_one_stops() {
  run_on_threads(2, [](Communicator& threads) {
    OnFakeHosts world(threads, {"a", "b"});
    Heartbeats signs(world);
    if (world.rank() == 1) {
      signs.say("node/all_reduce/8");
      world.barrier();
      return wait_for_the_end();
    }
    world.barrier();
    Watchdog watchdog({60, 0.2, "; see the journal", &signs});
    watchdog.hear("collectives", true);
    watchdog.set_last_words(
        [](const std::map<int, std::string>& lost) { std::fprintf(stderr, "lost %d\n", lost.begin()->first); });
    wait_for_the_end();
  });
}

TEST(WatchdogDeathTest, NamesTheRankThatIsSilentAndHasLastWords) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      run_two_ranks_of_which_one_stops(), ::testing::ExitedWithCode(3),
      "sextant: collectives: rank 1 on b sent no heartbeat for .* \\(last seen at node/all_reduce/8\\); "
      "see the journal\nlost 1\n");
}

TEST(Watchdog, LeavesQuietlyInTime) {
  Watchdog watchdog({60, 30, ""});
  watchdog.hear("links");
}

}  // namespace
}  // namespace sextant::cli
