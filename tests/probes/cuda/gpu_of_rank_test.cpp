#include "probes/gpu/gpu_of_rank.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "probes/comm/thread_communicator.h"
#include "tests/probes/cuda/fake_gpus.h"

namespace sextant {
namespace {

using testing::ElementsAre;

// The result of every rank, on one host; `change` replaces the `gpus` that all ranks see for one rank.
std::vector<GpusOfRanks> shared_out(int ranks, int gpus,
                                    const std::function<void(int rank, FakeGpus& gpus)>& change = {}) {
  std::vector<GpusOfRanks> found(static_cast<std::size_t>(ranks));
  run_on_threads(ranks, [&](Communicator& world) {
    FakeClock clock;
    FakeGpus devices(clock, gpus);
    if (change) change(world.rank(), devices);
    found[static_cast<std::size_t>(world.rank())] = share_out_gpus(world, devices);
  });
  return found;
}

std::string host() { return make_serial_communicator()->hosts().front(); }

TEST(GpusOfRanks, TakeThoseOfTheirHostInOrder) {
  const auto found = shared_out(3, 4);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    EXPECT_TRUE(found[rank].is_whole());
    EXPECT_EQ(found[rank].mine.index, static_cast<int>(rank));
  }
}

TEST(GpusOfRanks, ARankThatIsShownOneGpuHasThatOne) {
  const auto found = shared_out(2, 1, [](int rank, FakeGpus& gpus) { gpus.first_ = rank; });
  EXPECT_TRUE(found[1].is_whole());
  EXPECT_EQ(found[1].mine.bus_id, "0000:01:00.0");
}

TEST(GpusOfRanks, ThatSomeSeeNoneIsSaidOnEveryRankInOneLine) {
  const auto found = shared_out(4, 4, [](int rank, FakeGpus& gpus) {
    if (rank == 1 || rank == 3) gpus.absence_ = "the driver is asleep";
  });
  for (const GpusOfRanks& of_rank : found) {
    EXPECT_EQ(of_rank.why_not_whole(),
              "ranks 1 and 3 of 4 have no GPU of their own (rank 1, on " + host() + ": the driver is asleep)");
    EXPECT_THAT(of_rank.absences, ElementsAre("", "the driver is asleep", "", "the driver is asleep"));
  }
}

TEST(GpusOfRanks, WhereNobodySeesOneTheReasonIsEnough) {
  const auto found = shared_out(2, 1, [](int, FakeGpus& gpus) { gpus.absence_ = "built without CUDA"; });
  EXPECT_EQ(found[1].why_not_whole(), "built without CUDA");
}

TEST(GpusOfRanks, MoreRanksThanGpusLeaveSomeWithout) {
  const auto found = shared_out(3, 2);
  EXPECT_EQ(found[0].why_not_whole(), "rank 2 of 3 has no GPU of its own (rank 2, on " + host() + ": " +
                                          host() + " has 3 ranks and 2 GPUs)");
}

TEST(GpusOfRanks, AGpuOfTwoRanksIsTheFirstOnes) {
  const auto found = shared_out(3, 1);
  EXPECT_EQ(found[0].why_not_whole(), "ranks 1 and 2 of 3 have no GPU of their own (rank 1, on " + host() +
                                          ": its GPU 0000:00:00.0 is that of rank 0 too)");
}

}  // namespace
}  // namespace sextant
