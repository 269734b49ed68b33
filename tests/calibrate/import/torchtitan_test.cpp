#include "calibrate/import/tables/torchtitan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/calibrate/import/step_cases.h"
#include "tests/core/expect_error.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kHeader =
    "run_id,model,gpu_type,gpu_memory_bytes,gpu_count,gpus_per_node,fsdp,tp,pp,cp,seq_tokens,seq_tokens_source,"
    "local_batch_sequences,global_batch_sequences,precision,activation_recompute,torch_compile,async_tp,"
    "tokens_per_s_per_gpu,peak_memory_bytes,source\n";

const Imported& carried() {
  static const Imported imported =
      import_runs("torchtitan", {carried_file("torchtitan/runs.csv")}, carried_facts());
  return imported;
}

Imported import_text(const std::string& rows) {
  OwnFiles files;
  return read_torchtitan({files.write("runs.csv", kHeader + rows)}, carried_facts());
}

TEST(Torchtitan, EveryCarriedRowIsARun) {
  EXPECT_THAT(carried().runs.runs, SizeIs(21));
  EXPECT_THAT(carried().left_out, IsEmpty());
  expect_sound(carried());
}

TEST(Torchtitan, StepTimeFollowsFromThroughput) {
  const sextant::Run& run = run_named(carried(), "tt0001");
  // 16 sequences of 8192 tokens over 8 GPUs at 5762 tokens a second each.
  EXPECT_THAT(run.iteration.samples_s, ElementsAre(16 * 8192.0 / (5762 * 8)));
  EXPECT_EQ(run.peak_memory_bytes, 88476326298.0);
  EXPECT_EQ(run.notes.at("grade"), "B");
}

TEST(Torchtitan, ItsH100HasOtherMemory) {
  EXPECT_EQ(cluster_of(carried(), "tt0001").type_name(DeviceId{0}), "H100-SXM-96GB");
  EXPECT_EQ(cluster_of(carried(), "tt0021").type_name(DeviceId{0}), "H200-SXM-141GB");
}

TEST(Torchtitan, ShardsWeightsUnlessThereIsAPipeline) {
  const TaskPlan& sharded = task_of(carried(), "tt0001");
  EXPECT_EQ(sharded.execution.zero_stage, 3);
  EXPECT_EQ(sharded.micro_batch_sequences, 2);
  EXPECT_EQ(sharded.execution.gradient_precision, Precision::fp32);
  EXPECT_FALSE(sharded.execution.precision.has_value());
  EXPECT_FALSE(sharded.execution.sequence_parallel);
  const TaskPlan& piped = task_of(carried(), "tt0008");
  EXPECT_EQ(piped.execution.zero_stage, 1);
  EXPECT_EQ(piped.micro_batch_sequences, 1);  // the local batch of 8 one by one
  EXPECT_EQ(piped.execution.precision, Precision::fp8);
  EXPECT_EQ(piped.execution.weight_precision, Precision::bf16);
  EXPECT_TRUE(piped.execution.sequence_parallel);
  EXPECT_EQ(piped.replicas[0].pipeline_parallel(), 8);
}

TEST(Torchtitan, OneContextParallelReplicaIsShardedOverItsParts) {
  const TaskPlan& task = task_of(carried(), "tt0007");
  EXPECT_EQ(task.data_parallel(), 1);
  EXPECT_EQ(task.execution.context_parallel, 8);
  EXPECT_EQ(task.execution.zero_stage, 3);
}

TEST(Torchtitan, SelectiveRecomputationIsLeftToTheFit) {
  EXPECT_EQ(task_of(carried(), "tt0001").recompute, Recompute::none);
  const Unstated expected{UnstatedQuantity::recompute, "torchtitan-selective", 0.3};
  EXPECT_THAT(run_named(carried(), "tt0001").unstated, ElementsAre(expected));
  EXPECT_EQ(task_of(carried(), "tt0005").recompute, Recompute::full);
  EXPECT_THAT(run_named(carried(), "tt0005").unstated, IsEmpty());
}

TEST(Torchtitan, LeavesOutUnknownModelsAndGpus) {
  const Imported imported = import_text(
      "a,Llama-3.1-8B,H100,96000000000,8,8,8,1,1,1,8192,stated,2,16,bfloat16,none,1,0,5000,,x\n"
      "b,Lama-9B,H100,96000000000,8,8,8,1,1,1,8192,stated,2,16,bfloat16,none,1,0,5000,,x\n"
      "c,Llama-3.1-8B,Z80,96000000000,8,8,8,1,1,1,8192,stated,2,16,bfloat16,none,1,0,5000,,x\n");
  EXPECT_THAT(imported.runs.runs, SizeIs(1));
  EXPECT_FALSE(imported.runs.runs[0].peak_memory_bytes.has_value());
  EXPECT_THAT(reason_for(imported, "b"), HasSubstr("Lama-9B"));
  EXPECT_THAT(reason_for(imported, "c"), HasSubstr("Z80"));
}

TEST(Torchtitan, RefusesWhatIsNotOfTheForm) {
  const auto refusal = [](const std::string& row) { return refusal_of([&] { (void)import_text(row); }); };
  EXPECT_THAT(refusal("a,Llama-3.1-8B,H100,96e9,8,8,8,1,1,1,8192,stated,2,16,bfloat16,some,1,0,5000,,x\n"),
              HasSubstr("activation_recompute"));
  EXPECT_THAT(refusal("a,Llama-3.1-8B,H100,96e9,8,8,8,1,1,1,8192,stated,2,16,bfloat16,none,1,0,fast,,x\n"),
              HasSubstr("tokens_per_s_per_gpu"));
  OwnFiles files;
  const auto other = files.write("other.csv", "a,b\n1,2\n");
  EXPECT_THAT(refusal_of([&] { (void)read_torchtitan({other}, carried_facts()); }), HasSubstr("run_id"));
}

}  // namespace
}  // namespace sextant
