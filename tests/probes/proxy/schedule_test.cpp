#include "probes/proxy/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace sextant::proxy {
namespace {

constexpr Pass F = Pass::forward;
constexpr Pass B = Pass::backward;

TEST(Schedule, LastStageAlternates) {
  EXPECT_EQ(one_forward_one_backward(1, 2, 2), (std::vector<PipelineStep>{{F, 0}, {B, 0}, {F, 1}, {B, 1}}));
}

TEST(Schedule, FirstStageRunsAheadByTheDepth) {
  EXPECT_EQ(one_forward_one_backward(0, 3, 4),
            (std::vector<PipelineStep>{{F, 0}, {F, 1}, {F, 2}, {B, 0}, {F, 3}, {B, 1}, {B, 2}, {B, 3}}));
}

TEST(Schedule, FewMicroBatchesDoNotFillThePipeline) {
  EXPECT_EQ(one_forward_one_backward(0, 4, 1), (std::vector<PipelineStep>{{F, 0}, {B, 0}}));
  EXPECT_TRUE(one_forward_one_backward(0, 4, 0).empty());
}

// No micro-batch's slot is taken again before its backward pass.
TEST(Schedule, HoldsNoMoreThanItSays) {
  for (int stages = 1; stages <= 5; ++stages) {
    for (int stage = 0; stage < stages; ++stage) {
      for (int micro_batches = 1; micro_batches <= 7; ++micro_batches) {
        int held = 0;
        int maximum = 0;
        for (const auto& step : one_forward_one_backward(stage, stages, micro_batches)) {
          held += step.pass == F ? 1 : -1;
          maximum = std::max(maximum, held);
        }
        EXPECT_EQ(held, 0);
        EXPECT_EQ(maximum, micro_batches_in_flight(stage, stages, micro_batches));
      }
    }
  }
}

}  // namespace
}  // namespace sextant::proxy
