#include "probes/collective/collective_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <stdexcept>

#include "probes/comm/thread_communicator.h"
#include "sextant/error.h"
#include "tests/probes/collective/host_collectives.h"
#include "tests/probes/harness/fake_clock.h"

namespace sextant {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const ProbeResult& find(const std::vector<ProbeResult>& results, const std::string& name) {
  for (const ProbeResult& result : results) {
    if (result.name == name) return result;
  }
  throw std::runtime_error("no " + name);
}

CollectiveOptions quick() {
  CollectiveOptions options;
  options.sampling = sampling_options(0.002, 0.5);
  options.sampling.stopping.max_samples = 8;
  options.max_bytes = 8192;
  options.pair_bytes = {8, 4096};
  return options;
}

// Takes a time of its own on a clock that all ranks' leader reads; really does nothing.
class FakeRun final : public CollectiveRun {
 public:
  FakeRun(double took_s, bool is_right, std::function<void()> on_run)
      : took_s_(took_s), is_right_(is_right), on_run_(std::move(on_run)) {}
  [[nodiscard]] double run_s(int repeats) override {
    if (on_run_) on_run_();
    return repeats * took_s_;
  }
  [[nodiscard]] bool is_right() override { return is_right_; }

 private:
  double took_s_;
  bool is_right_;
  std::function<void()> on_run_;
};

class FakeCollectives final : public Collectives {
 public:
  explicit FakeCollectives(Communicator& world) : world_(world) {}
  [[nodiscard]] std::string name() const override { return "fake"; }
  [[nodiscard]] std::string description() const override { return "fake clock"; }
  [[nodiscard]] double free_bytes() const override { return world_.rank() == 1 ? 1000 : 1e9; }
  // Rank r takes (r + 1) us and 1 ns a byte.
  [[nodiscard]] std::unique_ptr<CollectiveRun> prepare(const CollectiveShape& shape) override {
    return std::make_unique<FakeRun>((world_.rank() + 1) * (1e-6 + 1e-9 * shape.bytes()), true, on_run_);
  }
  [[nodiscard]] std::unique_ptr<CollectiveRun> prepare_round_trip(int peer, std::size_t bytes) override {
    return std::make_unique<FakeRun>(2 * (peer + 1) * 1e-6 + 1e-9 * static_cast<double>(bytes), true, on_run_);
  }
  std::function<void()> on_run_;

 private:
  Communicator& world_;
};

// The results of rank 0 when `prepare` may change each rank's collectives.
template <typename Library>
std::vector<ProbeResult> collectives_on(int ranks, const CollectiveOptions& options,
                                        const std::function<void(Library&, int rank)>& prepare = {}) {
  std::vector<ProbeResult> of_first;
  run_on_threads(ranks, [&](Communicator& world) {
    Library library(world);
    if (prepare) prepare(library, world.rank());
    auto results = measure_collectives(world, library, options);
    if (world.rank() == 0) {
      of_first = std::move(results);
    } else {
      EXPECT_TRUE(results.empty());
    }
  });
  return of_first;
}

TEST(MeasureCollectives, DoesEveryOneOverAllSizesWithRightData) {
  const auto results = collectives_on<HostCollectives>(3, quick());
  for (const ProbeResult& result : results) {
    EXPECT_TRUE(result.has_value()) << result.name << ": " << result.sentence;
    EXPECT_GT(result.value, 0);
    EXPECT_EQ(result.unit, "s");
  }
  EXPECT_EQ(find(results, "host/all_reduce/8192").work, 8192);
  EXPECT_THAT(find(results, "host/all_reduce/8").how, HasSubstr("slowest of 3 ranks, in place"));
  EXPECT_EQ(find(results, "host/all_gather/8184").work, 8184);  // three equal parts
  EXPECT_TRUE(find(results, "host/all_to_all/8184").has_value());
  EXPECT_TRUE(find(results, "host/send_receive/8192").has_value());
  EXPECT_TRUE(find(results, "host/reduce_scatter/12").has_value());
  EXPECT_TRUE(find(results, "host/broadcast/32").has_value());
}

TEST(MeasureCollectives, TheSlowestRankDecides) {
  const auto results = collectives_on<FakeCollectives>(4, quick());
  EXPECT_NEAR(find(results, "fake/all_reduce/8").value, 4 * (1e-6 + 8e-9), 1e-12);
  // The rank with the least memory decides how large: 40 % of 1000 bytes.
  EXPECT_NEAR(find(results, "fake/all_reduce/400").value, 4 * (1e-6 + 400e-9), 1e-12);
  EXPECT_THROW(find(results, "fake/all_reduce/512"), std::runtime_error);
  EXPECT_EQ(find(results, "fake/all_to_all/192").work, 192);  // two buffers, four parts
}

TEST(MeasureCollectives, BandwidthsAreThoseOfNcclTests) {
  const auto results = collectives_on<FakeCollectives>(4, quick());
  const auto derived = derive_bandwidths(results, 4);
  const double time_s = 4 * (1e-6 + 400e-9);
  EXPECT_NEAR(find(derived, "fake/all_reduce/400/algorithm_bandwidth").value, 400 / time_s, 1);
  EXPECT_NEAR(find(derived, "fake/all_reduce/400/bus_bandwidth").value, 1.5 * 400 / time_s, 1);
  EXPECT_NEAR(find(derived, "fake/all_gather/400/bus_bandwidth").value, 0.75 * 400 / time_s, 1);
  EXPECT_NEAR(find(derived, "fake/broadcast/400/bus_bandwidth").value, 400 / time_s, 1);
  EXPECT_EQ(find(derived, "fake/broadcast/400/bus_bandwidth").unit, "bytes/s");
  EXPECT_EQ(derived.size(), 2 * results.size());
}

TEST(MeasureCollectives, OneRankIsWaivedWithItsReason) {
  const auto results = collectives_on<HostCollectives>(1, quick());
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].outcome, ProbeOutcome::waived);
  EXPECT_THAT(results[0].sentence, HasSubstr("only one rank"));
}

TEST(MeasureCollectives, WrongDataOfOneRankFailsThatPointOnly) {
  const auto results = collectives_on<HostCollectives>(3, quick(), [](HostCollectives& library, int rank) {
    library.spoil_ = [rank](std::vector<float>& arrived) {
      if (rank == 2 && arrived.size() == 32) arrived[31] += 1;
    };
  });
  const ProbeResult& wrong = find(results, "host/all_reduce/128");
  EXPECT_EQ(wrong.outcome, ProbeOutcome::failed);
  EXPECT_EQ(wrong.value, 0);
  EXPECT_EQ(wrong.sentence, "rank 2: the data was wrong");
  EXPECT_TRUE(find(results, "host/all_reduce/512").has_value());
  EXPECT_TRUE(derive_bandwidths({wrong}, 3).empty());
}

TEST(MeasureCollectives, ARankWithoutMemoryFailsThatPointOnly) {
  const auto results = collectives_on<HostCollectives>(3, quick(), [](HostCollectives& library, int rank) {
    library.on_prepare_ = [rank](const CollectiveShape& shape) {
      if (rank == 1 && shape.bytes() == 2048) throw_machine_failed("CUDA: out of memory");
    };
  });
  EXPECT_EQ(find(results, "host/all_reduce/2048").outcome, ProbeOutcome::failed);
  EXPECT_EQ(find(results, "host/all_reduce/2048").sentence, "rank 1: CUDA: out of memory");
  EXPECT_TRUE(find(results, "host/all_reduce/8192").has_value());
}

TEST(MeasureCollectives, AfterARankFailedHalfWayTheRestIsWaived) {
  for (const int broken : {0, 2}) {
    const auto results = collectives_on<FakeCollectives>(3, quick(), [&](FakeCollectives& library, int rank) {
      if (rank != broken) return;
      library.on_run_ = [runs = std::make_shared<int>(0)] {
        if (++*runs == 30) throw_machine_failed("NCCL: remote process exited");
      };
    });
    int failed = 0, waived = 0;
    for (const ProbeResult& result : results) {
      if (result.outcome == ProbeOutcome::failed) {
        ++failed;
        EXPECT_EQ(result.sentence, "rank " + std::to_string(broken) + ": NCCL: remote process exited");
      }
      if (result.outcome == ProbeOutcome::waived) {
        ++waived;
        EXPECT_THAT(result.sentence, StartsWith("not tried after a failure"));
      }
    }
    EXPECT_EQ(failed, 1);
    EXPECT_GT(waived, 10);
    EXPECT_TRUE(results.front().has_value());
    EXPECT_FALSE(results.back().has_value());
  }
}

TEST(MeasureCollectives, WhatHasNotBegunWithinTheBudgetIsWaived) {
  CollectiveOptions options = quick();
  options.total_budget_s = 0;
  for (const ProbeResult& result : collectives_on<HostCollectives>(2, options)) {
    EXPECT_EQ(result.outcome, ProbeOutcome::waived);
    EXPECT_THAT(result.sentence, HasSubstr("were over"));
  }
}

template <typename Library>
std::vector<ProbeResult> pairs_on(int ranks, const CollectiveOptions& options,
                                  const std::function<void(Library&, int rank)>& prepare = {}) {
  std::vector<ProbeResult> all;
  std::mutex mutex;
  run_on_threads(ranks, [&](Communicator& world) {
    Library library(world);
    if (prepare) prepare(library, world.rank());
    const auto led = measure_pairs(world, library, options);
    const std::lock_guard lock(mutex);
    all.insert(all.end(), led.begin(), led.end());
  });
  return all;
}

const ProbeResult& find_pair(const std::vector<ProbeResult>& results, int low, int high,
                             const std::string& name) {
  for (const ProbeResult& result : results) {
    if (result.rank == low && result.peer == high && result.name == name) return result;
  }
  throw std::runtime_error("no " + name);
}

TEST(MeasurePairs, EveryPairIsMeasuredOnceForEachSize) {
  const auto results = pairs_on<HostCollectives>(4, quick());
  EXPECT_EQ(results.size(), 6 * 2U);
  for (const ProbeResult& result : results) EXPECT_TRUE(result.has_value()) << result.sentence;
  EXPECT_EQ(find_pair(results, 1, 3, "host/pair/4096").work, 4096);
}

// Each end of the fake takes as long as its peer's number says: the slower end, halved.
TEST(MeasurePairs, HalfARoundTripOfTheSlowerEndCounts) {
  CollectiveOptions options = quick();
  options.pair_bytes = {8, 400};
  const auto results = pairs_on<FakeCollectives>(3, options);
  EXPECT_NEAR(find_pair(results, 1, 2, "fake/pair/400").value, 3e-6 + 200e-9, 1e-12);
  EXPECT_NEAR(find_pair(results, 0, 1, "fake/pair/8").value, 2e-6 + 4e-9, 1e-12);
}

TEST(MeasurePairs, AFailureIsThatOfItsPairAndSparesTheOthers) {
  const auto results = pairs_on<HostCollectives>(4, quick(), [](HostCollectives& library, int rank) {
    library.on_round_trip_ = [rank](int peer, std::size_t bytes) {
      if (rank == 3 && peer == 1 && bytes == 8) throw_machine_failed("no more handles");
    };
  });
  EXPECT_EQ(find_pair(results, 1, 3, "host/pair/8").outcome, ProbeOutcome::failed);
  EXPECT_EQ(find_pair(results, 1, 3, "host/pair/8").sentence, "rank 3: no more handles");
  EXPECT_TRUE(find_pair(results, 1, 3, "host/pair/4096").has_value());
  EXPECT_TRUE(find_pair(results, 0, 3, "host/pair/8").has_value());
}

TEST(MeasurePairs, ARankThatBrokeIsLeftAloneByItsOtherPeers) {
  const auto results = pairs_on<FakeCollectives>(4, quick(), [](FakeCollectives& library, int rank) {
    if (rank == 3) library.on_run_ = [] { throw_machine_failed("NCCL: unhandled system error"); };
  });
  int failed = 0;
  for (const ProbeResult& result : results) {
    if (result.outcome == ProbeOutcome::failed) ++failed;
  }
  EXPECT_EQ(failed, 1);
  EXPECT_EQ(results.size(), 6U);  // 400 bytes of room: only one of the sizes
}

// A pair of every kind is always measured, the rest as far as the time goes; and it is said how far that was.
TEST(MeasurePairs, WithoutAnyTimeEveryKindHasAPairAndTheRestIsSaidOnce) {
  CollectiveOptions options = quick();
  options.total_budget_s = 1e-9;
  options.kind_of_pair = [](int low, int high) { return low / 2 == high / 2 ? "bridge" : "bus"; };
  const auto results = pairs_on<HostCollectives>(4, options);
  ASSERT_EQ(results.size(), 2 * 2 + 1U);
  EXPECT_TRUE(find_pair(results, 0, 3, "host/pair/8").has_value());  // the first of the tournament is a bus
  EXPECT_TRUE(find_pair(results, 0, 1, "host/pair/8").has_value());
  const ProbeResult& late = find(results, "host/pair");
  EXPECT_EQ(late.outcome, ProbeOutcome::waived);
  EXPECT_LT(late.peer, 0);
  EXPECT_THAT(late.sentence, HasSubstr("were over after 2 of 6 pairs"));
}

TEST(MeasurePairs, OneRankHasNone) { EXPECT_TRUE(pairs_on<HostCollectives>(1, quick()).empty()); }

}  // namespace
}  // namespace sextant
