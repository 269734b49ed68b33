#include "probes/gathering/liveness_barrier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <map>

#include "probes/comm/thread_communicator.h"
#include "sextant/error.h"
#include "tests/probes/comm/fake_hosts.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;

constexpr LivenessBarrier::Limits kPatient = {60, 120};
constexpr LivenessBarrier::Limits kHasty = {0.4, 60};

TEST(LivenessBarrier, OneRankAloneHearsItself) {
  const auto world = make_serial_communicator();
  std::string told;
  LivenessBarrier muster(*world, kPatient, [&](int, const std::string& text) { told += text; });
  muster.tell("a");
  muster.show();
  EXPECT_TRUE(muster.any(true));
  EXPECT_FALSE(muster.any(false));
  muster.meet("nothing was done");
  EXPECT_EQ(told, "a");
  EXPECT_TRUE(muster.lost().empty());
}

TEST(LivenessBarrier, AnyIsTheSameOnAllWhoeverSaysSo) {
  for (const int ranks : {2, 3, 5, 8}) {
    run_on_threads(ranks, [&](Communicator& world) {
      LivenessBarrier muster(world, kPatient, {});
      for (int teller = 0; teller < ranks; ++teller) EXPECT_TRUE(muster.any(world.rank() == teller));
      EXPECT_FALSE(muster.any(false));
    });
  }
}

TEST(LivenessBarrier, RankZeroHearsAllBeforeTheyMeet) {
  std::map<int, std::string> told;
  run_on_threads(3, [&](Communicator& world) {
    LivenessBarrier muster(world, kPatient, [&](int rank, const std::string& text) { told[rank] += text; });
    for (int n = 0; n < 3; ++n) muster.tell(std::to_string(n));
    muster.meet("numbers were told");
    if (world.rank() == 0) {
      EXPECT_EQ(told, (std::map<int, std::string>{{0, "012"}, {1, "012"}, {2, "012"}}));
    }
  });
}

// Rank 2 says nothing until all is over.
TEST(LivenessBarrier, WhoIsSilentIsNamedAndTheRestGoesOn) {
  std::latch others_are_done(3);
  run_on_threads(4, [&](Communicator& threads) {
    OnFakeHosts world(threads, {"a", "b", "c", "d"});
    LivenessBarrier muster(world, kHasty, {});
    if (world.rank() == 2) {
      others_are_done.wait();
      muster.show();
      return;
    }
    EXPECT_FALSE(muster.any(false));                              // in vain
    EXPECT_EQ(muster.any(world.rank() == 1), world.rank() == 1);  // each on its own now
    muster.meet("nothing was done");
    ASSERT_EQ(muster.lost().size(), 1U);
    EXPECT_EQ(muster.lost().at(2), "rank 2 on c sent nothing for 400 ms while nothing was done");
    muster.meet("more was done");
    EXPECT_EQ(muster.lost().size(), 1U);
    others_are_done.count_down();
  });
}

TEST(LivenessBarrier, WithoutRankZeroNobodyCanGoOn) {
  std::latch other_is_done(1);
  run_on_threads(2, [&](Communicator& threads) {
    OnFakeHosts world(threads, {"a", "b"});
    LivenessBarrier muster(world, {0.1, 0.2}, {});
    if (world.rank() == 0) return other_is_done.wait();
    try {
      muster.meet("nothing was done");
      ADD_FAILURE() << "went on";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::machine);
      EXPECT_THAT(error.what(), HasSubstr("rank 0 on a, which collects the results, does not respond"));
    }
    other_is_done.count_down();
  });
}

}  // namespace
}  // namespace sextant
