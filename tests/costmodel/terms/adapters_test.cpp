// Launches of low-rank adapters: terms/adapters.h.
#include "costmodel/terms/adapters.h"

#include <gtest/gtest.h>

#include "costmodel/task.h"
#include "tests/costmodel/terms/term_case.h"

namespace sextant::test {
namespace {

using enum CoefficientId;

Execution adapted() {
  Execution execution;
  execution.lora_rank = 2;
  return execution;
}

TEST(Adapters, AnAdaptedLayerIsPreparedLikeSeveral) {
  TermCase with_adapters(kTraining, with(on_device(0), adapted())), without(kTraining, on_device(0));
  for (TermCase* each : {&with_adapters, &without}) {
    each->set(lora_overhead_weight, 1.5);
    each->set(layer_overhead_s, 0.5);
  }
  // 4 micro-batches of 3 layers; frozen weights have no gradients: two passes, else three.
  EXPECT_DOUBLE_EQ(terms::host_s(with_adapters.at()), 4 * 2 * 3 * 2.5 * 0.5);
  EXPECT_DOUBLE_EQ(terms::host_s(without.at()), 4 * 3 * 3 * 0.5);
}

TEST(Adapters, DecodingLaunchesThemInEveryStep) {
  TermCase generation(kGeneration, with(on_device(0), adapted()));
  generation.set(decode_layer_overhead_s, 0.5);
  EXPECT_DOUBLE_EQ(terms::decode_layers_s(generation.at()), 5 * 3 * 0.5);
  generation.set(lora_overhead_weight, 1);
  EXPECT_DOUBLE_EQ(terms::decode_layers_s(generation.at()), 5 * 3 * 2 * 0.5);
}

}  // namespace
}  // namespace sextant::test
