// The calls of NCCL: buffers, offsets, groups and places in place, on an emulated one that checks them.
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "probes/comm/thread_communicator.h"
#include "probes/cuda/cuda_resources.h"
#include "probes/cuda/proxy/gpu_collectives.h"
#include "probes/gpu/libraries/nccl_collectives.h"
#include "tests/probes/cuda/emulation/emulated_nccl.h"

namespace sextant {
namespace {

using testing::HasSubstr;

class EmulatedNccl : public testing::Test {
 protected:
  ~EmulatedNccl() override {
    emulated_nccl_spoil(-1);
    EXPECT_EQ(emulated_nccl_communicators(), 0) << "not destroyed";
  }

  static void on_ranks(int count, const std::function<void(Communicator&, Collectives&)>& action) {
    run_on_threads(count, [&](Communicator& ranks) {
      const CollectivesOrReason made = make_nccl_collectives(ranks, ranks.rank());
      ASSERT_NE(made.collectives, nullptr) << made.reason;
      EXPECT_THAT(made.collectives->description(), HasSubstr("NCCL emulated"));
      action(ranks, *made.collectives);
    });
  }
};

TEST_F(EmulatedNccl, EveryCollectiveLeavesWhatItMustOnEveryRank) {
  for (const int count : {2, 3}) {
    on_ranks(count, [](Communicator& ranks, Collectives& nccl) {
      for (int kind = 0; kind < kCollectiveKindCount; ++kind) {
        for (const double bytes : {8.0, 4096.0, 100'000.0}) {
          const CollectiveShape shape = shape_of(static_cast<CollectiveKind>(kind), ranks.size(), bytes);
          const auto run = nccl.prepare(shape);
          EXPECT_GT(run->run_s(2), 0);
          EXPECT_TRUE(run->is_right()) << name_of(shape.kind) << " of " << bytes << ", rank " << ranks.rank();
          EXPECT_TRUE(run->is_right()) << "not twice";
        }
      }
    });
  }
}

TEST_F(EmulatedNccl, WrongDataIsFoundOnTheRankThatHasIt) {
  emulated_nccl_spoil(1);
  on_ranks(3, [](Communicator& ranks, Collectives& nccl) {
    for (int kind = 0; kind < kCollectiveKindCount; ++kind) {
      const CollectiveShape shape = shape_of(static_cast<CollectiveKind>(kind), ranks.size(), 4096);
      EXPECT_EQ(nccl.prepare(shape)->is_right(), ranks.rank() != 1) << name_of(shape.kind);
    }
  });
}

// The last is longer than the host's part of a message, and no multiple of it.
TEST_F(EmulatedNccl, MessagesOfAllLengthsComeBack) {
  on_ranks(2, [](Communicator& ranks, Collectives& nccl) {
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{65'536}, (std::size_t{16} << 20) + 1000}) {
      const auto run = nccl.prepare_round_trip(1 - ranks.rank(), bytes);
      EXPECT_GT(run->run_s(1), 0);
      EXPECT_TRUE(run->is_right()) << bytes;
    }
  });
}

TEST_F(EmulatedNccl, ASpoiledMessageIsFound) {
  emulated_nccl_spoil(0);
  on_ranks(2, [](Communicator& ranks, Collectives& nccl) {
    for (const std::size_t bytes : {std::size_t{8}, (std::size_t{16} << 20) + 1000}) {
      EXPECT_EQ(nccl.prepare_round_trip(1 - ranks.rank(), bytes)->is_right(), ranks.rank() != 0) << bytes;
    }
  });
}

// Device memory with these numbers.
template <typename T>
class OnDevice {
 public:
  explicit OnDevice(const std::vector<T>& values) : count_(values.size()), buffer_(count_ * sizeof(T)) {
    check_cuda(cudaMemcpy(buffer_.data(), values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice),
               "writing");
  }
  [[nodiscard]] T* data() const { return buffer_.as<T>(); }
  [[nodiscard]] std::vector<T> read() const {
    std::vector<T> values(count_);
    check_cuda(cudaMemcpy(values.data(), buffer_.data(), count_ * sizeof(T), cudaMemcpyDeviceToHost),
               "reading");
    return values;
  }

 private:
  std::size_t count_;
  DeviceBuffer buffer_;
};

TEST_F(EmulatedNccl, TheProxysCollectivesDoWhatTheySay) {
  run_on_threads(3, [](Communicator& ranks) {
    const int rank = ranks.rank();
    const auto group = gpu::make_gpu_collectives(ranks);
    ASSERT_EQ(group->size(), 3);
    const auto bf16 = [](float value) { return __float2bfloat16(value); };
    const OnDevice<gpu::Bf16> values({bf16(1.0F + static_cast<float>(rank)), bf16(-2)});
    group->all_reduce_sum(values.data(), 2, nullptr);
    EXPECT_EQ(__bfloat162float(values.read()[0]), 6);
    EXPECT_EQ(__bfloat162float(values.read()[1]), -6);

    const OnDevice<int> mine({10 * rank, 10 * rank + 1}), all(std::vector<int>(6, -1));
    group->all_gather(mine.data(), 2 * sizeof(int), all.data(), nullptr);
    EXPECT_EQ(all.read(), (std::vector<int>{0, 1, 10, 11, 20, 21}));

    const OnDevice<int> word({rank});
    group->broadcast(word.data(), sizeof(int), 2, nullptr);
    EXPECT_EQ(word.read(), std::vector<int>{2});

    if (rank == 0) group->send(mine.data(), 2 * sizeof(int), 2, nullptr);
    if (rank == 2) group->receive(mine.data(), 2 * sizeof(int), 0, nullptr);
    EXPECT_EQ(mine.read(), (rank == 1 ? std::vector<int>{10, 11} : std::vector<int>{0, 1}));
  });
  EXPECT_EQ(gpu::gpu_collectives_version(), "NCCL emulated");
}

TEST_F(EmulatedNccl, WhatNcclRefusesIsSaidWithWhatWasDone) {
  run_on_threads(2, [](Communicator& ranks) {
    const auto group = gpu::make_gpu_collectives(ranks);
    int on_host = 0;
    try {
      group->broadcast(&on_host, sizeof on_host, 0, nullptr);
      ADD_FAILURE() << "not refused";
    } catch (const std::exception& error) {
      EXPECT_THAT(error.what(), HasSubstr("NCCL: invalid argument (while broadcasting to GPUs)"));
    }
  });
}

}  // namespace
}  // namespace sextant
