// Traffic over the link to the host: terms/offload.h, and the optimizer that runs there.
#include "costmodel/terms/offload.h"

#include <gtest/gtest.h>

#include <memory>

#include "costmodel/terms/optimizer.h"
#include "tests/costmodel/terms/term_case.h"

namespace sextant::test {
namespace {

using enum CoefficientId;

// Links to the host of 10 and 5 B/s.
Cluster with_hosts() {
  const Cluster small = small_cluster();
  auto types = small.device_types();
  types.at("fast").host_bytes_per_s = assumed(10);
  types.at("slow").host_bytes_per_s = assumed(5);
  return Cluster("small", types, small.nodes(), small.levels());
}

std::unique_ptr<TermCase> offloading(const char* task, const Execution& execution, int device = 0) {
  return std::make_unique<TermCase>(task, with(on_device(device), execution), small_workflow(), with_hosts());
}

TEST(Offload, NothingWithoutIt) { EXPECT_EQ(terms::offload_s(offloading(kTraining, {})->at(), 0.0), 0); }

TEST(Offload, WeightsComeInAndGoOut) {
  Execution execution;
  execution.offload_weights = true;
  const auto inference = offloading(kInference, execution);
  EXPECT_DOUBLE_EQ(terms::offload_s(inference->at(), 0.0), 2 * 2 * 480 / 10.0);
  EXPECT_DOUBLE_EQ(terms::offload_s(offloading(kInference, execution, 2)->at(), 0.0), 2 * 2 * 480 / 5.0);
  inference->set(host_link_efficiency, 0.5);
  EXPECT_DOUBLE_EQ(terms::offload_s(inference->at(), 0.0), 2 * 2 * 480 / 5.0);
  // Training: weights and optimizer, 14 bytes a parameter; 2 if the optimizer's state stays on the host.
  const auto training_s = [&] { return terms::offload_s(offloading(kTraining, execution)->at(), 0.0); };
  EXPECT_DOUBLE_EQ(training_s(), 2 * 14 * 480 / 10.0);
  execution.offload_gradients = true;
  EXPECT_DOUBLE_EQ(training_s(), 2 * 16 * 480 / 10.0);
  execution.offload_optimizer = true;
  EXPECT_DOUBLE_EQ(training_s(), 2 * 4 * 480 / 10.0);
  execution.offload_gradients = false;
  EXPECT_DOUBLE_EQ(training_s(), 2 * 2 * 480 / 10.0);
}

TEST(Offload, ActivationsGoOutAndComeBack) {
  Execution execution;
  execution.offload_activations = true;
  // A token of a layer keeps 88 elements (memory_test.cpp): 24 tokens, 3 layers, 2 bytes, 4 micro-batches.
  EXPECT_DOUBLE_EQ(terms::offload_s(offloading(kTraining, execution)->at(), 0.0),
                   2 * 4 * (24 * 3 * 88 * 2) / 10.0);
  EXPECT_EQ(terms::offload_s(offloading(kInference, execution)->at(), 0.0), 0);
  execution.offload_activation_layers = 1;  // of 3
  EXPECT_DOUBLE_EQ(terms::offload_s(offloading(kTraining, execution)->at(), 0.0), 2 * 4 * (24 * 88 * 2) / 10.0);
  execution.offload_activation_layers = 9;
  EXPECT_DOUBLE_EQ(terms::offload_s(offloading(kTraining, execution)->at(), 0.0),
                   2 * 4 * (24 * 3 * 88 * 2) / 10.0);
}

TEST(Offload, ActivationsTravelBesideTheComputation) {
  Execution execution;
  execution.offload_activations = execution.offload_weights = true;
  const auto training = offloading(kTraining, execution);
  const double states = 2 * 14 * 480 / 10.0, activations = 2 * 4 * (24 * 3 * 88 * 2) / 10.0;
  EXPECT_DOUBLE_EQ(terms::offload_s(training->at(), 1e9), states + activations);
  training->set(offload_overlap, 0.75);
  constexpr double kRoundingOfALongWork = 1e-9;
  EXPECT_NEAR(terms::offload_s(training->at(), 1e9), states + 0.25 * activations, kRoundingOfALongWork);
  EXPECT_DOUBLE_EQ(terms::offload_s(training->at(), 0.0), states + activations);
}

TEST(Offload, TheOptimizerOnTheHost) {
  Execution execution;
  execution.offload_optimizer = true;
  const auto training = offloading(kTraining, execution);
  training->set(optimizer_traffic_weight, 1);  // of the device, which does not run it
  // Gradients down and weights up, 2 bytes each, between which the host updates the parameters.
  const double update_s = 480 / terms::kHostAdamParametersPerS;
  EXPECT_DOUBLE_EQ(terms::optimizer_s(training->at()), 480 * (2 + 2) / 10.0 + update_s);
  EXPECT_EQ(terms::offload_s(training->at(), 0.0), 0);
  training->set(host_link_efficiency, 0.25);
  EXPECT_DOUBLE_EQ(terms::optimizer_s(training->at()), 480 * (2 + 2) / 2.5 + update_s);
}

// The processors of a host work for all devices of its node. 72 billion parameters on one node of eight: 18 s.
TEST(Offload, TheHostUpdatesTheParametersOfItsNode) {
  Execution execution;
  execution.offload_optimizer = true;
  execution.zero_stage = 1;
  const TermCase two(kTraining, with(plan_of({{stage(3, {0})}, {stage(3, {1})}}), execution), small_workflow(),
                     with_hosts());
  EXPECT_DOUBLE_EQ(terms::host_adam_s(two.at(), 36e9, DeviceId{0}), 18);
  const auto one = offloading(kTraining, execution);
  EXPECT_DOUBLE_EQ(terms::host_adam_s(one->at(), 72e9, DeviceId{0}), 18);
}

// On the device, which moves 50 bytes/s: parameter (read and written) and gradient in fp32, and the moments
// (read and written) in their format.
TEST(Offload, AdamMovesTheFormatsOfThePlan) {
  Execution execution;
  const auto seconds = [](const Execution& of) {
    TermCase training(kTraining, with(on_device(0), of));
    training.set(optimizer_traffic_weight, 1);
    return terms::optimizer_s(training.at());
  };
  EXPECT_DOUBLE_EQ(seconds(execution), 480 * (2 * 4 + 4 + 4 * 4) / 50.0);
  execution.moment_precision = Precision::bf16;
  EXPECT_DOUBLE_EQ(seconds(execution), 480 * (2 * 4 + 4 + 4 * 2) / 50.0);
  execution.master_weights = false;  // the parameter in bf16
  EXPECT_DOUBLE_EQ(seconds(execution), 480 * (2 * 2 + 4 + 4 * 2) / 50.0);
}

TEST(Offload, OncePerMiniBatchOfTheShard) {
  Execution execution;
  execution.offload_optimizer = true;
  execution.zero_stage = 1;
  Workflow workflow = small_workflow();
  workflow.mini_batches = 3;
  const TermCase training(kTraining, with(plan_of({{stage(3, {0})}, {stage(3, {1})}}), execution), workflow,
                          with_hosts());
  EXPECT_DOUBLE_EQ(terms::optimizer_s(training.at()),
                   3 * 240 * (2 + 2) / 10.0 + 3 * 480 / terms::kHostAdamParametersPerS);
}

}  // namespace
}  // namespace sextant::test
