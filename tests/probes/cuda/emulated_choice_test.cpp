// Which GPU each rank of the proxy computes on; ranks are threads of one host.
#include "probes/cuda/proxy/gpu_choice.h"

#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "probes/comm/thread_communicator.h"

namespace sextant::gpu {
namespace {

using testing::HasSubstr;

std::vector<GpuChoice> chosen(int ranks, const std::function<void(int rank)>& show) {
  std::vector<GpuChoice> choices(static_cast<std::size_t>(ranks));
  run_on_threads(ranks, [&](Communicator& world) {
    show(world.rank());
    choices[static_cast<std::size_t>(world.rank())] = choose_gpu(world);
  });
  return choices;
}

TEST(ChooseGpu, RanksThatSeeAllTakeThemInOrder) {
  const auto choices = chosen(3, [](int) { emulated_show_devices(0, 4); });
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(choices[static_cast<std::size_t>(rank)].device, rank);
    EXPECT_EQ(choices[static_cast<std::size_t>(rank)].reason, "");
  }
}

// The case of srun --gpus-per-task=1.
TEST(ChooseGpu, RanksThatAreShownOneEachHaveThatOne) {
  const auto choices = chosen(3, [](int rank) { emulated_show_devices(rank, 1); });
  for (const GpuChoice& choice : choices) {
    EXPECT_EQ(choice.device, 0);
    EXPECT_EQ(choice.reason, "");
  }
}

TEST(ChooseGpu, RanksThatAreShownTheSameOneAreRefused) {
  for (const GpuChoice& choice : chosen(2, [](int) { emulated_show_devices(0, 1); })) {
    EXPECT_THAT(choice.reason, HasSubstr("its GPU 0000:00:00.0 is that of rank 0 too"));
  }
}

TEST(ChooseGpu, WhatOneRankCannotUseAllHearOf) {
  for (const GpuChoice& choice : chosen(3, [](int rank) { emulated_show_devices(0, 4, rank != 1); })) {
    EXPECT_THAT(choice.reason, HasSubstr("rank 1: "));
    EXPECT_THAT(choice.reason, HasSubstr("selecting GPU 1"));
  }
}

}  // namespace
}  // namespace sextant::gpu
