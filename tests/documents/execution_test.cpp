// Options of a task's execution: every one comes back as it was, what is off is not written, and what cannot be
// is refused with its path. How plans carry them.
#include "sextant/execution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json_value.h"
#include "documents/semantics.h"
#include "tests/core/expect_error.h"
#include "tests/documents/fixtures.h"

namespace sextant {
namespace {

// Every member with a value that is not the default.
const Json& every_option() {
  static const Json all = parse_json(R"({
    "context_parallel": 2, "expert_parallel": 4, "expert_tensor_parallel": 1, "virtual_stages": 3,
    "zero_stage": 2, "sharded_over": 2, "sequence_parallel": true, "packed": true, "padding": "batch", "continuous_batching": true,
    "micro_batch_tokens": 16384, "micro_batches": 8, "prefill_chunk_tokens": 2048, "shared_prompts": true,
    "fused_attention": true, "portable_attention": true, "fused_experts": true, "fused_dispatch": true,
    "overlap_dispatch": true, "unfused": true, "eager_layers": true, "cuda_graphs": true, "training_graphs": "attention", "kv_cache_bytes": 4e10,
    "logit_chunk_tokens": 1024, "fused_loss": true, "offload_optimizer": true,
    "offload_weights": true, "offload_gradients": true, "offload_activations": true, "offload_activation_layers": 7, "lora_rank": 16, "master_weights": false, "precision": "fp8",
    "weight_precision": "fp4", "expert_precision": "bf16", "expert_weight_precision": "fp8",
    "attention_precision": "fp16", "cache_precision": "fp16", "gradient_precision": "fp32",
    "main_gradient_precision": "fp32", "moment_precision": "fp8", "semantics": "verl"})");
  return all;
}

Execution parse(const Json& json) { return Execution::parse(JsonView(json, "/execution")); }

std::string refusal(const std::string& member, const Json& value) {
  Json json = Json::object();
  json[member] = value;
  return refusal_of([&json] { (void)parse(json); });
}

TEST(ExecutionTest, ByDefaultEverythingIsOffAndNothingIsWritten) {
  EXPECT_EQ(parse(Json::object()), Execution{});
  EXPECT_EQ(Execution{}.to_json(), Json::object());
}

TEST(ExecutionTest, EveryOptionComesBackAlone) {
  for (const auto& [member, value] : every_option().items()) {
    Json one = Json::object();
    one[member] = value;
    const Execution execution = parse(one);
    EXPECT_NE(execution, Execution{}) << member;
    EXPECT_EQ(execution.to_json(), one) << member;
    EXPECT_EQ(parse(execution.to_json()), execution) << member;
  }
}

TEST(ExecutionTest, AllOptionsComeBackTogether) {
  const Execution all = parse(every_option());
  EXPECT_EQ(all.to_json(), every_option());
  EXPECT_EQ(all.zero_stage, 2);
  EXPECT_EQ(all.sharded_over, 2);
  EXPECT_EQ(all.kv_cache_bytes, 4e10);
  EXPECT_EQ(all.weight_precision, Precision::fp4);
  EXPECT_EQ(all.gradient_precision, Precision::fp32);
  EXPECT_EQ(all.semantics, "verl");
}

TEST(ExecutionTest, TheSchemaKnowsTheSameOptionsAndSemantics) {
  const Json schema = parse_json(read_text_file(SEXTANT_SOURCE_DIR "/docs/schemas/plan.schema.json"));
  const Json& known = schema["$defs"]["execution"]["properties"];
  EXPECT_EQ(known.size(), every_option().size());
  for (const auto& [member, value] : every_option().items()) EXPECT_TRUE(known.contains(member)) << member;
  std::vector<std::string> names;
  for (const std::string_view name : semantics_names()) names.emplace_back(name);
  EXPECT_EQ(known["semantics"]["enum"].get<std::vector<std::string>>(), names);
}

TEST(ExecutionTest, Refuses) {
  EXPECT_EQ(refusal("context_parallel", 0), "/execution/context_parallel: expected an integer >= 1, got 0");
  EXPECT_EQ(refusal("expert_parallel", 0), "/execution/expert_parallel: expected an integer >= 1, got 0");
  EXPECT_EQ(refusal("expert_tensor_parallel", -1),
            "/execution/expert_tensor_parallel: expected an integer >= 0, got -1");
  EXPECT_EQ(refusal("virtual_stages", 1.5), "/execution/virtual_stages: expected an integer >= 1, got 1.5");
  EXPECT_EQ(refusal("zero_stage", 4), "/execution/zero_stage: expected an integer from 0 to 3, got 4");
  EXPECT_EQ(refusal("micro_batch_tokens", -1),
            "/execution/micro_batch_tokens: expected an integer >= 0, got -1");
  EXPECT_EQ(refusal("kv_cache_bytes", -1), "/execution/kv_cache_bytes: expected a number >= 0, got -1");
  EXPECT_EQ(refusal("lora_rank", "all"), "/execution/lora_rank: expected an integer >= 0, got \"all\"");
  EXPECT_EQ(refusal("training_graphs", "layer"),
            "/execution/training_graphs: expected one of none, routing, attention, iteration, got \"layer\"");
  EXPECT_EQ(refusal("packed", 1), "/execution/packed: expected true or false, got 1");
  EXPECT_EQ(refusal("precision", "int4"),
            "/execution/precision: expected one of fp64, fp32, tf32, bf16, fp16, fp8, fp4, got \"int4\"");
  EXPECT_EQ(refusal("semantics", "trl"),
            "/execution/semantics: expected one of plain, real, megatron, verl, nemo-rl, vllm, got \"trl\"");
  EXPECT_EQ(refusal("zero", 1).substr(0, 55), "/execution/zero: unknown member; known ones are context");
}

TEST(ExecutionTest, RecomputationByNameOrSwitch) {
  const auto read = [](const Json& json) { return parse_recompute(JsonView(json, "/recompute")); };
  EXPECT_EQ(read(true), Recompute::full);
  EXPECT_EQ(read(false), Recompute::none);
  for (const Recompute each : {Recompute::none, Recompute::selective, Recompute::full}) {
    EXPECT_EQ(read(std::string(name_of(each))), each);
  }
  EXPECT_EQ(refusal_of([&] { (void)read("some"); }),
            "/recompute: expected one of none, selective, full, got \"some\"");
}

Json compact_task() {
  return parse_json(R"({"data_parallel": 2, "pipeline_parallel": 1, "tensor_parallel": 2,
                        "devices": {"first": 4, "count": 8}, "layers": 3, "micro_batch_sequences": 1,
                        "decode_batch_sequences": 0, "recompute": "selective",
                        "execution": {"context_parallel": 2, "zero_stage": 1}})");
}

Json plan_with(const Json& task) {
  Json plan = {{"name", "p"}};
  plan["tasks"]["t"] = task;
  return plan;
}

TEST(PlanExecution, CompactTasksWithContextParallelism) {
  const auto plan = parse_as<Plan>(plan_with(compact_task()));
  const TaskPlan& task = plan.tasks.at("t");
  ASSERT_EQ(task.data_parallel(), 2);
  // Stages of 2 x 2 devices.
  EXPECT_EQ(task.replicas[1].stages[0].devices,
            (std::vector<DeviceId>{DeviceId{8}, DeviceId{9}, DeviceId{10}, DeviceId{11}}));
  EXPECT_EQ(task.tensor_parallel(task.replicas[0].stages[0]), 2);
  EXPECT_EQ(task.recompute, Recompute::selective);
  EXPECT_EQ(describe(task), "dp2 tp2 pp1 cp2 on 4-11");
  EXPECT_EQ(plan.to_json(), plan_with(compact_task()));  // written as it was
}

TEST(PlanExecution, CompactTasksCountTheirDevices) {
  Json task = compact_task();
  task["devices"]["count"] = 4;
  EXPECT_EQ(refusal_of([&] { (void)parse_as<Plan>(plan_with(task)); }),
            "/tasks/t/devices/count: expected data_parallel * pipeline_parallel * tensor_parallel * "
            "context_parallel = 2 * 1 * 2 * 2 devices, got 4");
}

TEST(PlanExecution, WeightSyncIsWrittenWhereItIsNotTheDefault) {
  Json json = plan_with(compact_task());
  for (const char* method : {"shortest", "flat", "topology_aware", "broadcast", "sharded", "per_replica"}) {
    json["weight_sync"] = {{"method", method}, {"fraction_sent", 0.5}};
    EXPECT_EQ(parse_as<Plan>(json).to_json(), json);
    json["weight_sync"]["bucket_bytes"] = 5e8;
    EXPECT_EQ(parse_as<Plan>(json).to_json(), json);
  }
  json["weight_sync"] = {{"method", "shortest"}, {"fraction_sent", 1}, {"bucket_bytes", 0}};
  EXPECT_EQ(parse_as<Plan>(json).to_json(), plan_with(compact_task()));
}

// The checks against cluster and workflow, on the plan with every option.
class ExecutionCheck : public ::testing::Test {
 protected:
  Plan plan = load_fixture<Plan>("plan_execution.json");
  Workflow workflow = load_fixture<Workflow>("workflow_turns.json");
  Cluster cluster = load_fixture<Cluster>("cluster_network.json");

  [[nodiscard]] std::string refusal() {
    return refusal_of([this] { check_plan(plan, workflow, cluster); });
  }
};

TEST_F(ExecutionCheck, ContextParallelismDividesTheStages) {
  plan.tasks.at("reference_inference").execution.context_parallel = 3;
  EXPECT_EQ(refusal(),
            "/tasks/reference_inference/replicas/0/stages/0/devices: context parallelism 3 does not divide the "
            "stage's 4 devices");
}

TEST_F(ExecutionCheck, OffloadingNeedsALinkToTheHost) {
  auto types = cluster.device_types();
  for (auto& [name, type] : types) type.host_bytes_per_s.reset();
  cluster = Cluster(cluster.name(), types, cluster.nodes(), cluster.levels());
  for (auto& [name, task] : plan.tasks) {
    task.execution.offload_weights = task.execution.offload_activations = task.execution.offload_optimizer =
        false;
  }
  EXPECT_NO_THROW(check_plan(plan, workflow, cluster));
  plan.tasks.at("reference_inference").execution.offload_weights = true;
  const std::string type = cluster.type_name(*plan.tasks.at("reference_inference").devices().begin());
  EXPECT_EQ(refusal(), "/tasks/reference_inference/execution/offload_weights: device type \"" + type +
                           "\" of the cluster has no host_bytes_per_s");
}

TEST_F(ExecutionCheck, GroupsOfShardsDivideTheDevicesThatHoldTheWeights) {
  TaskPlan& training = plan.tasks.at("actor_training");
  training.execution.zero_stage = 0;
  training.execution.sharded_over = 1;
  EXPECT_EQ(refusal(), "/tasks/actor_training/execution/sharded_over: has no meaning without zero_stage");
  const int holders = training.data_parallel() * training.execution.context_parallel;
  training.execution.zero_stage = 3;
  training.execution.sharded_over = holders + 1;
  EXPECT_EQ(refusal(), "/tasks/actor_training/execution/sharded_over: " + std::to_string(holders + 1) +
                           " does not divide the " + std::to_string(holders) +
                           " devices that hold the same weights (replicas times context_parallel)");
}

TEST_F(ExecutionCheck, LayersAreOffloadedOnlyWhereActivationsAre) {
  Execution& execution = plan.tasks.at("actor_training").execution;
  execution.offload_activations = false;
  execution.offload_activation_layers = 2;
  EXPECT_EQ(refusal(),
            "/tasks/actor_training/execution/offload_activation_layers: has no meaning without "
            "offload_activations");
}

TEST_F(ExecutionCheck, ExpertsAreThereAndDividedEvenly) {
  plan.tasks.at("actor_generation").execution.expert_parallel = 3;
  EXPECT_EQ(refusal(),
            "/tasks/actor_generation/execution/expert_parallel: 3 does not divide the model's 16 experts");
  plan.tasks.at("actor_generation").execution.expert_parallel = 2;
  workflow.models.at("actor").experts.reset();
  EXPECT_EQ(refusal(),
            "/tasks/actor_generation/execution/expert_parallel: model \"small-latent\" has no experts");
}

TEST_F(ExecutionCheck, ExpertsAreDealtOverDevicesThatHoldThem) {
  Execution& execution = plan.tasks.at("actor_generation").execution;
  execution.expert_parallel = 16;
  execution.expert_tensor_parallel = 1;
  EXPECT_THAT(refusal(),
              ::testing::HasSubstr("/tasks/actor_generation/execution/expert_parallel: experts over 16 x 1 "
                                   "devices do not fit the "));
}

TEST_F(ExecutionCheck, VirtualStagesHaveALayerEach) {
  plan.tasks.at("actor_training").execution.virtual_stages = 5;
  EXPECT_EQ(refusal(), "/tasks/actor_training/execution/virtual_stages: 5 chunks of a stage with 4 layers");
}

}  // namespace
}  // namespace sextant
