#include "sextant/task_choices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

#include "planner/request/shapes.h"
#include "tests/costmodel/small_problem.h"
#include "tests/planner/planning_case.h"

namespace sextant::test {
namespace {

// A model whose cache takes 2 (keys and values) x 2 heads x 16 x 2 bytes = 128 bytes a token and layer: 4
// layers and sequences of 100 + 156 tokens take 131,072 bytes each.
Workflow cached_workflow(int sequences) {
  Workflow workflow = ppo_8b();
  Model& model = workflow.models.at("actor");
  model.layers = 4;
  model.heads = model.kv_heads = 2;
  model.head_dim = 16;
  workflow.prompts = sequences;
  workflow.responses_per_prompt = 1;
  workflow.prompt_tokens = fixed_length(100);
  workflow.response_tokens = fixed_length(156);
  return workflow;
}

constexpr double kSequence_bytes = 131072;

std::vector<int> batches_of(int sequences, const MemoryRange& memory, int stages = 1, int width = 1) {
  const Workflow workflow = cached_workflow(sequences);
  return decode_batches(workflow.actor_generation(), workflow, {}, sequences, stages, width, memory);
}

TEST(DecodeBatches, AreAllAtOnceWhereTheCacheIsSmall) {
  // 64 sequences in a sixteenth of the memory: none of it is worth waiting for.
  const MemoryRange memory{16 * 64 * kSequence_bytes, 16 * 64 * kSequence_bytes};
  EXPECT_EQ(batches_of(64, memory), (std::vector{0}));
}

TEST(DecodeBatches, HalveUntilTheCacheIsASixteenthOfTheMemory) {
  // All 64 fit; 4 of them are a sixteenth.
  const MemoryRange memory{64 * kSequence_bytes, 64 * kSequence_bytes};
  EXPECT_EQ(batches_of(64, memory), (std::vector{0, 32, 16, 8, 4}));
  // On twice the devices, each half the heads: 8 are a sixteenth.
  EXPECT_EQ(batches_of(64, memory, 1, 2), (std::vector{0, 32, 16, 8}));
}

TEST(DecodeBatches, LeaveOutWhatFitsNoDevice) {
  const MemoryRange memory{20 * kSequence_bytes, 20 * kSequence_bytes};
  EXPECT_EQ(batches_of(64, memory), (std::vector{16, 8, 4, 2, 1}));
}

TEST(DecodeBatches, OfAPipelineAreThoseOfAllItsStages) {
  // Two stages with two layers each hold half of a sequence; two batches are on their way at once.
  const MemoryRange memory{20 * kSequence_bytes, 20 * kSequence_bytes};
  EXPECT_EQ(batches_of(64, memory, 2), (std::vector{16, 8, 4, 2, 1}));
}

TEST(DecodeBatches, AreNoChoiceWhereTheExecutionBoundsTheCache) {
  const Workflow workflow = cached_workflow(64);
  Execution execution;
  execution.kv_cache_bytes = kSequence_bytes;
  const MemoryRange memory{20 * kSequence_bytes, 20 * kSequence_bytes};
  EXPECT_EQ(decode_batches(workflow.actor_generation(), workflow, execution, 64, 1, 1, memory),
            (std::vector{0}));
  EXPECT_EQ(decode_batches(workflow.actor_training(), workflow, {}, 64, 1, 1, memory), (std::vector{0}));
}

TEST(CanExecute, HoldsContextsExpertsStagesAndTokenBudgets) {
  Workflow workflow = cached_workflow(64);
  const Task& training = workflow.actor_training();
  Execution execution;
  execution.context_parallel = 2;
  EXPECT_TRUE(can_execute(execution, training, workflow, 1, 1, 4));
  EXPECT_FALSE(can_execute(execution, training, workflow, 1, 1, 3));
  execution = {};
  execution.virtual_stages = 2;
  EXPECT_TRUE(can_execute(execution, training, workflow, 1, 2, 1));
  EXPECT_FALSE(can_execute(execution, training, workflow, 1, 4, 1));  // one layer a stage
  execution = {};
  execution.zero_stage = 3;
  execution.sharded_over = 2;
  EXPECT_TRUE(can_execute(execution, training, workflow, 4, 1, 1));
  EXPECT_FALSE(can_execute(execution, training, workflow, 3, 1, 1));  // two do not divide three
  EXPECT_FALSE(can_execute(execution, training, workflow, 2, 1, 1));  // all of them: not groups
  execution = {};
  execution.micro_batch_tokens = 255;  // sequences have 256
  EXPECT_FALSE(can_execute(execution, training, workflow, 1, 1, 1));
  execution.micro_batch_tokens = 256;
  EXPECT_TRUE(can_execute(execution, training, workflow, 1, 1, 1));
  execution = {};
  execution.expert_parallel = 4;
  EXPECT_FALSE(can_execute(execution, training, workflow, 4, 1, 1));  // no experts
  workflow.models.at("actor").experts = Experts{8, 2, 24, 0, 0};
  EXPECT_TRUE(can_execute(execution, training, workflow, 4, 1, 1));
  EXPECT_FALSE(can_execute(execution, training, workflow, 2, 1, 1));  // two devices for four ranks
}

bool has(const std::vector<std::vector<int>>& all, const std::vector<int>& layers) {
  return std::find(all.begin(), all.end(), layers) != all.end();
}

std::vector<int> stages_with_ends(int first, int middle, int between, int last) {
  std::vector<int> layers(static_cast<std::size_t>(between) + 2, middle);
  layers.front() = first;
  layers.back() = last;
  return layers;
}

// Stage layers in use (runs.json and slime's scripts). DeepSeek-V3 has 61 layers: 3 + 14 x 4 + 2, 7 + 6 x 8 +
// 6, 7 x 8 + 5, 11 x 5 + 6. Qwen3-235B has 94: 11 + 6 x 12 + 11, 23 + 2 x 24 + 23, 3 x 24 + 22.
TEST(StageLayers, OfMegatronAreEvenButForTheEnds) {
  const auto of = [](int layers, int stages) {
    return stage_layers(layers, stages, 1, StageRule::even_but_ends);
  };
  EXPECT_TRUE(has(of(61, 16), stages_with_ends(3, 4, 14, 2)));
  EXPECT_TRUE(has(of(61, 8), stages_with_ends(7, 8, 6, 6)));
  EXPECT_TRUE(has(of(61, 8), stages_with_ends(8, 8, 6, 5)));
  EXPECT_TRUE(has(of(61, 12), stages_with_ends(5, 5, 10, 6)));
  EXPECT_TRUE(has(of(94, 8), stages_with_ends(11, 12, 6, 11)));
  EXPECT_TRUE(has(of(94, 4), stages_with_ends(23, 24, 2, 23)));
  EXPECT_TRUE(has(of(94, 4), stages_with_ends(24, 24, 2, 22)));
  EXPECT_EQ(of(61, 2), (std::vector<std::vector<int>>{{31, 30}}));
  EXPECT_EQ(of(61, 1), (std::vector<std::vector<int>>{{61}}));
  EXPECT_EQ(of(36, 4), (std::vector<std::vector<int>>{{9, 9, 9, 9}}));  // equal where that is possible
  // 61 layers in 24 stages: middles of 3 leave none for the ends, of 2 they leave 17.
  EXPECT_TRUE(of(61, 24).empty());
}

TEST(StageLayers, AreEvenOrAnyWhereTheRuleSaysSo) {
  EXPECT_TRUE(stage_layers(61, 16, 1, StageRule::even).empty());
  EXPECT_EQ(stage_layers(61, 4, 1, StageRule::any), (std::vector<std::vector<int>>{{16, 15, 15, 15}}));
  // 94 layers in 2 stages of 47 are no multiple of 2 virtual stages; 96 in 2 of 48 are.
  EXPECT_TRUE(stage_layers(94, 2, 2, StageRule::even_but_ends).empty());
  EXPECT_EQ(stage_layers(96, 2, 2, StageRule::even_but_ends), (std::vector<std::vector<int>>{{48, 48}}));
}

// vLLM's get_pp_indices deals so: one layer more for the last stage but one and for those before it.
TEST(StageLayers, OfEnginesDifferByOne) {
  const auto of = [](int layers, int stages) {
    return stage_layers(layers, stages, 1, StageRule::differ_by_one);
  };
  EXPECT_EQ(of(61, 4), (std::vector<std::vector<int>>{{15, 15, 16, 15}}));
  EXPECT_EQ(of(94, 4), (std::vector<std::vector<int>>{{23, 24, 24, 23}}));
  EXPECT_EQ(of(61, 2), (std::vector<std::vector<int>>{{31, 30}}));
  EXPECT_EQ(of(11, 4), (std::vector<std::vector<int>>{{3, 3, 3, 2}}));
  EXPECT_EQ(of(64, 4), (std::vector<std::vector<int>>{{16, 16, 16, 16}}));
  EXPECT_TRUE(allows(StageRule::differ_by_one, {16, 15, 15, 15}));
  EXPECT_FALSE(allows(StageRule::differ_by_one, {17, 15, 15, 14}));
}

TEST(StageLayers, KeepTheirRuleAndSumWhateverTheModel) {
  for (int layers = 1; layers <= 128; ++layers) {
    for (int stages = 1; stages <= layers; ++stages) {
      for (const StageRule rule :
           {StageRule::any, StageRule::even, StageRule::even_but_ends, StageRule::differ_by_one}) {
        for (const std::vector<int>& split : stage_layers(layers, stages, 1, rule)) {
          EXPECT_EQ(split.size(), static_cast<std::size_t>(stages));
          EXPECT_EQ(std::accumulate(split.begin(), split.end(), 0), layers);
          EXPECT_GE(*std::min_element(split.begin(), split.end()), 1);
          EXPECT_TRUE(allows(rule, split)) << layers << " layers, " << stages << " stages";
        }
      }
    }
  }
  EXPECT_FALSE(allows(StageRule::even, {4, 4, 3}));
  EXPECT_FALSE(allows(StageRule::even_but_ends, {4, 4, 3, 4}));
  EXPECT_TRUE(allows(StageRule::even_but_ends, {3, 4, 4, 2}));
}

TEST(ShapesOf, HaveTheExecutionsAndDegreesOfTheChoices) {
  const Workflow workflow = ppo_8b();
  const Task& training = workflow.actor_training();
  ShapeLimits limits;
  limits.choices.resize(workflow.tasks.size());
  TaskChoices& choices = limits.choices[static_cast<std::size_t>(&training - workflow.tasks.data())];
  choices.executions.push_back({});
  choices.executions.back().context_parallel = 2;
  choices.max_pipeline_parallel = 1;
  choices.max_tensor_parallel = 2;
  choices.has_even_batch = true;
  choices.micro_batch_sequences = {4};
  std::set<std::tuple<int, int, int>> seen;  // execution, width, replicas
  for (const Shape& shape : shapes_of(training, workflow, 8, limits)) {
    EXPECT_EQ(shape.pipeline_parallel(), 1);
    EXPECT_EQ(shape.micro_batch_sequences, 4);
    seen.emplace(shape.execution, shape.tensor_parallel, shape.data_parallel());
  }
  EXPECT_EQ(seen, (std::set<std::tuple<int, int, int>>{{0, 1, 8}, {0, 2, 4}, {1, 2, 4}, {1, 4, 2}}));
}

}  // namespace
}  // namespace sextant::test
