#include "probes/gathering/heartbeats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "probes/comm/thread_communicator.h"
#include "tests/probes/comm/fake_hosts.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Datagrams of this host are there as soon as they are sent. Times are the test's own.
TEST(Heartbeats, WhoSaysNothingAnyMoreIsSilent) {
  run_on_threads(3, [](Communicator& threads) {
    OnFakeHosts world(threads, {"a", "b", "c"});
    Heartbeats signs(world);
    EXPECT_EQ(signs.is_listener(), world.rank() < 2);
    signs.say("links");
    world.barrier();
    signs.listen(0);
    if (signs.is_listener()) {
      EXPECT_THAT(signs.unheard(), IsEmpty());
      EXPECT_THAT(signs.silent(9, 10), IsEmpty());
    }
    world.barrier();
    if (world.rank() != 2) signs.say("collectives");
    world.barrier();
    signs.listen(9);
    if (signs.is_listener()) {
      EXPECT_THAT(signs.silent(11, 10), ElementsAre(2));
      EXPECT_EQ(signs.last_words(2), "links");
      EXPECT_EQ(signs.last_words(0), "collectives");
      EXPECT_EQ(signs.silent_s(2, 11), 11);
      EXPECT_EQ(signs.name_of(2), "rank 2 on c");
    }
  });
}

// Nobody who was never heard is taken for silent: UDP may not be let through.
TEST(Heartbeats, WhoWasNeverHeardIsNotSilent) {
  run_on_threads(2, [](Communicator& threads) {
    OnFakeHosts world(threads, {"a", "b"});
    Heartbeats signs(world);
    if (world.rank() == 0) signs.say("links");
    world.barrier();
    signs.listen(0);
    EXPECT_THAT(signs.unheard(), ElementsAre(1));
    EXPECT_THAT(signs.silent(100, 10), ElementsAre(0));
  });
}

}  // namespace
}  // namespace sextant
