// Does it fit? What people measured on their machines, or where they ran out of memory, against the
// coefficients that ship. The documents in tests/data/field are what a user would write; each test names the
// public report.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "sextant/document.h"
#include "sextant/predict.h"

namespace sextant {
namespace {

constexpr double kGib = 1024.0 * 1024 * 1024;
constexpr double kClose = 0.15;  // relative, of a measured peak: what is asked of a count without a measurement

const std::filesystem::path kSource = SEXTANT_SOURCE_DIR;

// One folder of tests/data/field.
class FieldCase {
 public:
  explicit FieldCase(const std::string& folder) : folder_(kSource / "tests/data/field" / folder) {}

  [[nodiscard]] Plan plan(const std::string& name) const { return load<Plan>(name); }

  // `shipped`: the document of data/coefficients that holds the framework.
  [[nodiscard]] Prediction predict(const std::string& cluster, const std::string& workflow, const Plan& plan,
                                   const std::string& shipped, const std::string& framework) const {
    const auto coefficients =
        load_document<Coefficients>(kSource / "data/coefficients" / (shipped + ".json")).content;
    return predict_with_trust(
        {load<Cluster>(cluster), load<Workflow>(workflow), plan, coefficients, framework});
  }

 private:
  template <typename T>
  [[nodiscard]] T load(const std::string& name) const {
    return load_document<T>(folder_ / (name + ".json")).content;
  }

  std::filesystem::path folder_;
};

// The device that needs most.
const DeviceMemory& fullest(const Prediction& prediction) {
  return *std::max_element(prediction.memory.begin(), prediction.memory.end(),
                           [](const auto& a, const auto& b) { return a.needed_bytes() < b.needed_bytes(); });
}

double needed_gib(const Prediction& prediction) { return fullest(prediction).needed_bytes() / kGib; }

Fit fit_of(const Prediction& prediction) {
  const DeviceMemory& device = fullest(prediction);
  return fit_of(device.fits(), device.trust);
}

void expect_close(double predicted, double measured, const std::string& what) {
  EXPECT_NEAR(predicted / measured, 1, kClose) << what << ": " << predicted << " for " << measured;
}

// NVIDIA-NeMo/RL#903: SFT of Qwen2.5-1.5B with 32,768 tokens on GPUs of 80 GB runs out of memory with context
// parallelism 2 and runs with 4. With 2 a device has 16,384 tokens: 16,384 x 151,936 logits of 16 bytes are
// 39.8 GB, the activations of 28 layers of (4 x 1,536 + 3,584 + 3 x 8,960) x 2 bytes 33.6 GB, weights and
// gradients 6.2 GB, the context some 2 GB: 81 GB before what the allocator loses, of 85.9.
TEST(FieldMemory, LogitsOfLongSequencesRunOut) {
  const FieldCase field("03-oom-logits");
  const auto predict = [&field](const char* plan) {
    return field.predict("cluster", "workflow", field.plan(plan), "nemo-rl", "nemo-rl");
  };
  EXPECT_NE(fit_of(predict("cp2-plan")), Fit::fits);
  EXPECT_EQ(fit_of(predict("cp4-plan")), Fit::fits);
  EXPECT_EQ(fit_of(predict("cp4-recompute-plan")), Fit::fits);
  EXPECT_TRUE(predict("cp2-recompute-plan").fits());
}

Prediction torchtitan_32b(const std::string& cluster, const std::string& layout) {
  const FieldCase field("04-memory-torchtitan-32b");
  return field.predict(cluster, layout + "-workflow", field.plan(layout + "-plan"), "pytorch", "torchtitan");
}

// pytorch/torchtitan#1690: Qwen3-32B, 4,096 tokens, full recomputation, 16 bytes a parameter, GPUs of 94.99
// GiB. With TP 8 and FSDP 4 the states are 32.8e9 x 16 / 32 = 16.4 GB. A sequence adds its layers' inputs,
// 4,096 x 64 x 5,120 x 2 / 8 = 0.34 GB, and its logits, 4,096 x 151,936 x 16 / 8 = 1.24 GB: 16 sequences are
// 25.3 GB, and with a context of 2 GB 43.7 GB = 40.7 GiB (measured 43.45), 32 are 64.3 GiB (70.79).
TEST(FieldMemory, EachLayoutOfA32BModelTakesWhatWasMeasured) {
  expect_close(needed_gib(torchtitan_32b("fsdp4-cluster", "fsdp4-tp8-16")), 43.45, "fsdp4-tp8-16");
  expect_close(needed_gib(torchtitan_32b("fsdp4-cluster", "fsdp4-tp8-32")), 70.79, "fsdp4-tp8-32");
  expect_close(needed_gib(torchtitan_32b("fsdp8-tp8-cluster", "fsdp8-tp8-32")), 63.27, "fsdp8-tp8-32");
  // States 65.5 GB, and 4,096 x 151,936 x 16 = 10 GB of logits.
  expect_close(needed_gib(torchtitan_32b("fsdp8-cluster", "fsdp8")), 81.85, "fsdp8");
}

TEST(FieldMemory, TheLayoutThatRanOutDoesNotFit) {
  EXPECT_EQ(fit_of(torchtitan_32b("fsdp4-cluster", "fsdp4-tp8-64")), Fit::does_not_fit);
  const Prediction fsdp8 = torchtitan_32b("fsdp8-cluster", "fsdp8");
  EXPECT_TRUE(fsdp8.fits());
  EXPECT_GT(fullest(fsdp8).trust->fit_probability, 0.9);
}

// huggingface/trl#6869: Qwen3-30B-A3B on 8 H100 takes 34 GB each. 30.5e9 parameters of 8 bytes (weights,
// gradients and two moments in bf16) over 8 devices are 30.5 GB; inputs of 48 layers, a layer and a context
// make some 3 GB.
TEST(FieldMemory, AdamInBf16TakesEightBytes) {
  const FieldCase field("05-optimizer-bytes");
  Plan plan = field.plan("a-plan");
  Execution& execution = plan.tasks.at("training").execution;
  execution.moment_precision = Precision::bf16;
  execution.master_weights = false;
  const Prediction prediction = field.predict("a-cluster", "a-workflow", plan, "pytorch", "pytorch");
  expect_close(fullest(prediction).needed_bytes() / 1e9, 34, "bf16 Adam");
}

// THUDM/slime#280: Qwen3-235B-A22B on 32 H100 with Megatron's gradients in fp32, 18 bytes a parameter, is
// stated to take 132.2 GiB of states, so that the script offloads the optimizer. The distributed optimizer
// (ZeRO 1) divides 12 of the 18 bytes, but experts over 8 ranks with TP 4 x DP 2 have one copy: 235.1e9 x 18 /
// 32 = 132 GB but for the dense part, which is divided less.
TEST(FieldMemory, GradientsInFp32MakeEighteenBytes) {
  const FieldCase field("05-optimizer-bytes");
  Plan plan = field.plan("c-plan");
  const auto states = [&field](const Plan& with) {
    return fullest(field.predict("c-cluster", "c-workflow", with, "megatron", "megatron-lm")).resident_bytes;
  };
  const double usual = states(plan);
  plan.tasks.at("training").execution.main_gradient_precision = Precision::fp32;
  const double megatron = states(plan);
  expect_close(megatron / kGib, 132.2, "18 bytes");
  EXPECT_GT(megatron, usual);
  EXPECT_EQ(fit_of(field.predict("c-cluster", "c-workflow", plan, "megatron", "megatron-lm")),
            Fit::does_not_fit);
  plan.tasks.at("training").execution.offload_optimizer = true;
  EXPECT_TRUE(field.predict("c-cluster", "c-workflow", plan, "megatron", "megatron-lm").fits());
}

// THUDM/slime#1851: Qwen3-30B-A3B with the optimizer on the host of 1,007.5 GB is killed with 999.9 GB in use,
// of which the trainers have 820 GB. By parameter a trainer holds 2 + 2 (weights and gradients of the sleeping
// task) + 12 (optimizer) + 4 + 2 (gradients in fp32, new weights) = 22 bytes, the reference 2, the engine 2:
// 26 x 30.5e9 x 1.1 (pinned) = 873 GB.
TEST(FieldMemory, AnOptimizerOnTheHostFillsIt) {
  const FieldCase field("06-host-memory");
  const Prediction prediction = field.predict("cluster", "workflow", field.plan("plan"), "any", "*");
  ASSERT_EQ(prediction.host_memory.size(), 1U);
  const HostMemory& host = prediction.host_memory.front();
  expect_close(host.needed_bytes, 999.9e9, "host");
  EXPECT_EQ(fit_of(host.fits(), host.trust), Fit::uncertain);
}

// foundation-model-stack/fms-acceleration#14: LoRA of Mistral-7B, 4 x 4,096 tokens, takes 29.03 GiB. Frozen
// weights 7.24e9 x 2 = 14.5 GB, adapters of rank 16 0.7 GB, inputs of 32 layers 16,384 x 32 x 4,096 x 2 = 4.3
// GB, logits 16,384 x 32,000 x 16 = 8.4 GB, a context of 2 GB: 29.9 GB = 27.8 GiB.
class EveryFramework : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(EveryFramework, LoraOfA7BModelTakesWhatWasMeasured) {
  const auto [shipped, framework] = GetParam();
  const FieldCase field("21-context-bytes");
  const Prediction prediction = field.predict("cluster", "workflow", field.plan("plan"), shipped, framework);
  expect_close(needed_gib(prediction), 29.03, framework);
}

// 0.5e9 parameters, 512 x 151,936 logits of 16 bytes (1.2 GB) and a context: 5 GB at most.
TEST_P(EveryFramework, LoraOfASmallModelFitsA16GbV100) {
  const auto [shipped, framework] = GetParam();
  const FieldCase field("21-context-bytes");
  EXPECT_EQ(
      fit_of(field.predict("small-cluster", "small-workflow", field.plan("small-plan"), shipped, framework)),
      Fit::fits);
}

INSTANTIATE_TEST_SUITE_P(FieldMemory, EveryFramework,
                         ::testing::Values(std::pair{"pytorch", "pytorch"}, std::pair{"pytorch", "torchtitan"},
                                           std::pair{"pytorch", "prime-rl"}, std::pair{"verl", "verl-fsdp"},
                                           std::pair{"megatron", "megatron-bridge"}, std::pair{"any", "*"}));

}  // namespace
}  // namespace sextant
