// Which task ran when, where its devices' time went, and the run that follows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json_value.h"
#include "core/table_file.h"
#include "probes/trace/analysis/split.h"
#include "probes/trace/analysis/summary.h"
#include "probes/trace/analysis/trace_run.h"
#include "tests/core/expect_error.h"
#include "tests/probes/trace/files.h"

namespace sextant::trace {
namespace {

using test::ProcessFile;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename Action>
void expect_refusal(const Action& action, const std::string& part) {
  EXPECT_THAT(refusal_of(action), HasSubstr(part));
}

constexpr double kTolerance = 1e-12;  // times are whole nanoseconds

std::string data_file(const char* name) { return std::string(SEXTANT_SOURCE_DIR) + "/data/trace/" + name; }

TaskRanges simple_tasks(std::vector<std::string> iterations = {}) {
  TaskRanges tasks;
  tasks.tasks = {{"actor_generation", {"gen"}, ""}, {"actor_training", {"train*"}, ""}};
  tasks.iterations = std::move(iterations);
  return tasks;
}

KernelNames names() { return load_table<KernelNames>(data_file("kernel_names.json")); }

// ---- tables ----

TEST(KernelNames, TellRealNamesApart) {
  const KernelNames table = names();
  const auto expect = [&](WorkClass wanted, std::initializer_list<const char*> kernels) {
    for (const char* kernel : kernels) EXPECT_EQ(name_of(table.class_of(kernel)), name_of(wanted)) << kernel;
  };
  constexpr const char* kCutlass =
      "_ZN7cutlass7Kernel2I66cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x64_32x4_nn_align8EEvNT_6ParamsE";
  expect(WorkClass::gemm, {"nvjet_tst_192x192_64x4_2x1_v_bz_coopB_TNT",
                           "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64",
                           "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn", kCutlass,
                           "_ZN8cublasLt19splitKreduce_kernelILi32ELi16EiffffLb0ELb0ELb0EEE",
                           "void gemv2T_kernel_val<int, int, __nv_bfloat16, float>"});
  expect(WorkClass::attention,
         {"_ZN13pytorch_flash16flash_fwd_kernelI23Flash_fwd_kernel_traitsILi64ELi128ELi128E",
          "fmha_cutlassF_bf16_aligned_64x128_rf_sm80(PyTorchMemEffAttention::AttentionKernel)",
          "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_3_128x128x128_4x1x1_kernel0_0",
          "void flashinfer::BatchDecodeWithPagedKVCacheKernel<>", "vllm::paged_attention_v2_kernel",
          "kernel_unified_attention_2d"});
  expect(
      WorkClass::communication,
      {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
       "ncclKernel_AllGather_RING_LL_Sum_int8_t", "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>"});
  expect(WorkClass::other, {"_ZN2at6native29vectorized_elementwise_kernelILi4E", "triton_poi_fused_add_0",
                            "_ZN2at6native13reduce_kernelILi512ELi1E", "fused_adam_kernel"});
}

TEST(TaskRanges, HoldTheFrameworksNames) {
  const auto table = load_table<TaskRanges>(data_file("task_ranges.json"));
  for (const auto& [range, task] : std::vector<std::pair<std::string, std::string>>{
           {"gen", "actor_generation"},
           {"rollout_generate", "actor_generation"},
           {"ref_compute_log_prob", "reference_inference"},
           {"update_actor", "actor_training"},
           {"actor_update", "actor_training"},
           {"old_log_prob", "old_log_prob"},
           {"dtensor_policy_worker_v2/train", "actor_training"},
           {"policy_worker/train_presharded", "actor_training"},
           {"megatron_policy_worker/generate", "actor_generation"},
           {"policy_worker/get_reference_policy_logprobs", "reference_inference"},
           {"vllm_internal_worker_extension/update_weights_via_ipc_zmq", "weight_sync"}}) {
    EXPECT_EQ(table.task_of(range), task) << range;
  }
  EXPECT_EQ(table.task_of("forward"), std::nullopt);
  EXPECT_TRUE(table.is_iteration("step"));
}

TEST(TaskRanges, StarsStandForAnyText) {
  EXPECT_TRUE(matches("a*c", "abbc"));
  EXPECT_TRUE(matches("*", ""));
  EXPECT_TRUE(matches("*b*", "aabaa"));
  EXPECT_TRUE(matches("a**b", "ab"));
  EXPECT_FALSE(matches("a*c", "abcd"));
  EXPECT_FALSE(matches("", "a"));
  EXPECT_TRUE(matches("*ab*abc", "abababc"));
}

TEST(TaskRanges, RoundTripAndAreChecked) {
  const TaskRanges tasks = simple_tasks({"step"});
  const Json json = tasks.to_json();
  EXPECT_EQ(TaskRanges::parse(JsonView(json)).to_json(), json);
  const Json empty = {{"tasks", Json::array()}};
  expect_refusal([&] { (void)TaskRanges::parse(JsonView(empty)); }, "/tasks: expected at least one task");
  const Json kernel = {{"entries", {{{"class", "matmul"}, {"parts", {"x"}}, {"source", "y"}}}}};
  expect_refusal([&] { (void)KernelNames::parse(JsonView(kernel)); }, "/entries/0/class");
}

// ---- iterations ----

TEST(Iterations, AreTheRangesThatMarkThem) {
  const Trace trace = merge_traces({ProcessFile("a", 1)
                                        .clock(0)
                                        .range("step", 0, 10)
                                        .range("gen", 1, 4)
                                        .range("train", 5, 9)
                                        .range("step", 12, 24)
                                        .range("gen", 13, 18)
                                        .range("train_more", 19, 20)
                                        .range("train", 20, 23)
                                        .text()});
  const Phases phases = find_phases(trace, simple_tasks({"step"}));
  ASSERT_EQ(phases.iterations.size(), 2U);
  EXPECT_NEAR(phases.iterations[1].tasks_s.at("actor_generation"), 5e-3, kTolerance);
  EXPECT_NEAR(phases.iterations[1].tasks_s.at("actor_training"), 4e-3, kTolerance);
  EXPECT_EQ(phases.iterations[1].time.length(), 12'000'000);
}

TEST(Iterations, WithoutMarksBeginWhenTheFirstTaskComesAgain) {
  const Trace trace = merge_traces({ProcessFile("a", 1)
                                        .clock(0)
                                        .range("gen", 0, 2)  // two chunks of one generation
                                        .range("gen", 2, 4)
                                        .range("train", 5, 9)
                                        .range("gen", 10, 12)
                                        .range("train", 13, 18)
                                        .range("gen", 20, 22)
                                        .text()});
  const Phases phases = find_phases(trace, simple_tasks());
  ASSERT_EQ(phases.iterations.size(), 2U);
  EXPECT_EQ(phases.iterations[0].time.length(), 10'000'000);
  EXPECT_NEAR(phases.iterations[0].tasks_s.at("actor_generation"), 4e-3, kTolerance);
}

// Workers overlap: the task takes as long as any of them is at it.
TEST(Iterations, TimeTasksByTheUnionOfAllProcesses) {
  const Trace trace = merge_traces({ProcessFile("a", 1).clock(0).range("step", 0, 20).text(),
                                    ProcessFile("a", 2).clock(0).range("gen", 2, 8).text(),
                                    ProcessFile("a", 3).clock(0).range("gen", 4, 11).text()});
  const Phases phases = find_phases(trace, simple_tasks({"step"}));
  ASSERT_EQ(phases.iterations.size(), 1U);
  EXPECT_NEAR(phases.iterations[0].tasks_s.at("actor_generation"), 9e-3, kTolerance);
}

TEST(Iterations, OfAKilledProcessTheLastIsLeftOut) {
  const Trace trace = merge_traces({ProcessFile("a", 1)
                                        .clock(0)
                                        .range("step", 0, 10)
                                        .range("gen", 1, 4)
                                        .open_range("step", 12)
                                        .open_range("gen", 13)
                                        .text()});
  EXPECT_EQ(find_phases(trace, simple_tasks({"step"})).iterations.size(), 1U);
}

// The driver's iterations are whole; the second one's worker died in it.
TEST(Iterations, InWhichAWorkerDiedIsLeftOut) {
  const Trace trace =
      merge_traces({ProcessFile("a", 1).clock(0).range("step", 0, 10).range("step", 12, 24).text(),
                    ProcessFile("a", 2).clock(0).range("gen", 1, 4).open_range("gen", 13).text()});
  const Phases phases = find_phases(trace, simple_tasks({"step"}));
  ASSERT_EQ(phases.iterations.size(), 1U);
  EXPECT_EQ(phases.iterations[0].time.start, 0);
}

TEST(Iterations, OutermostRangesWithoutATaskAreNamed) {
  const Trace trace = merge_traces({ProcessFile("a", 1)
                                        .clock(0)
                                        .range("short", 0, 1)
                                        .range("long", 2, 9)
                                        .range("inner", 3, 4)
                                        .range("gen", 10, 20)
                                        .text()});
  EXPECT_THAT(find_phases(trace, simple_tasks()).unmapped, ElementsAre("long", "short"));
}

// ---- split ----

TaskSplit split_of(const Trace& trace) {
  const Phases phases = find_phases(trace, simple_tasks());
  std::vector<WorkClass> classes;
  for (const std::string& name : trace.names) classes.push_back(names().class_of(name));
  return split_time(trace, phases, {trace.whole}, classes);
}

// Worked by hand: 20 ms of generation on one device.
TEST(SplitTime, AddsUpAndKeepsHiddenCommunicationApart) {
  const TaskSplit split =
      split_of(merge_traces({ProcessFile("a", 1)
                                 .clock(0)
                                 .range("gen", 0, 20)
                                 .kernel("nvjet_x", 1, 5)              // 4 ms GEMM
                                 .kernel("flash_fwd", 4, 6)            // 2 ms, over 1 ms of GEMM
                                 .kernel("ncclDevKernel", 5, 9, 0, 9)  // 1 hidden, 3 exposed
                                 .kernel("elementwise", 10, 11)
                                 .copy(11, 13, 100, CopyKind::host_to_device)
                                 .graph(14, 16)
                                 .text()}));
  const Split& gen = split.tasks.at("actor_generation");
  EXPECT_NEAR(gen.gemm_s, 3e-3, kTolerance);
  EXPECT_NEAR(gen.attention_s, 2e-3, kTolerance);
  EXPECT_NEAR(gen.hidden_communication_s, 1e-3, kTolerance);
  EXPECT_NEAR(gen.exposed_communication_s, 3e-3, kTolerance);
  EXPECT_NEAR(gen.other_s, 1e-3, kTolerance);
  EXPECT_NEAR(gen.copy_s, 2e-3, kTolerance);
  EXPECT_NEAR(gen.graph_s, 2e-3, kTolerance);
  EXPECT_NEAR(gen.recorded_s(), 20e-3, kTolerance);
  EXPECT_NEAR(gen.idle_s, 7e-3, kTolerance);
  EXPECT_NEAR(split.devices.at(0).recorded_s(), 20e-3, kTolerance);
}

// A driver without a device marks generation; the worker's own range is nearer to its kernels.
TEST(SplitTime, DriverRangesReachWorkersThatMarkNothing) {
  const TaskSplit split = split_of(
      merge_traces({ProcessFile("a", 1).clock(0).range("gen", 0, 10).text(),
                    ProcessFile("a", 2).clock(0).kernel("nvjet", 1, 2, 0).text(),
                    ProcessFile("a", 3).clock(0).range("train", 4, 8).kernel("nvjet", 5, 7, 1).text()}));
  EXPECT_NEAR(split.tasks.at("actor_generation").gemm_s, 1e-3, kTolerance);
  EXPECT_NEAR(split.tasks.at("actor_training").gemm_s, 2e-3, kTolerance);
  EXPECT_NEAR(split.tasks.at("actor_training").idle_s, 2e-3 + 4e-3, kTolerance);  // the other device waits
}

TEST(SplitTime, CountsOnlyWhenDeviceActivityWasRecorded) {
  const TaskSplit split = split_of(merge_traces({ProcessFile("a", 1)
                                                     .clock(0)
                                                     .recording(2, true)
                                                     .range("gen", 0, 20)
                                                     .kernel("nvjet", 3, 4)
                                                     .recording(6, false)
                                                     .recording(10, true)
                                                     .kernel("nvjet", 11, 12)
                                                     .recording(13, false)
                                                     .text()}));
  // The second from its kernel on: what was launched before the window may have run until then.
  EXPECT_NEAR(split.tasks.at("actor_generation").recorded_s(), 4e-3 + 2e-3, kTolerance);
  EXPECT_NEAR(split.tasks.at("actor_generation").gemm_s, 2e-3, kTolerance);
}

TEST(SplitTime, ALaterWindowThatBeginsIdleCountsFromATenthOfASecondOn) {
  const TaskSplit split = split_of(merge_traces({ProcessFile("a", 1)
                                                     .clock(0)
                                                     .recording(0, true)
                                                     .range("gen", 0, 1000)
                                                     .kernel("nvjet", 3, 4)
                                                     .recording(10, false)
                                                     .recording(100, true)
                                                     .kernel("nvjet", 500, 501)
                                                     .recording(600, false)
                                                     .text()}));
  EXPECT_NEAR(split.tasks.at("actor_generation").recorded_s(), 10e-3 + 400e-3, kTolerance);
}

// ---- summary and run ----

ProcessFile three_steps() {
  ProcessFile file("a", 1);
  file.clock(0);
  for (int i = 0; i < 3; ++i) {
    file.range("step", 20 * i, 20 * i + 15 + i);
    file.range("gen", 20 * i, 20 * i + 6 + i);
    file.range("train", 20 * i + 8, 20 * i + 12);
    file.kernel("nvjet", 20 * i + 1, 20 * i + 2);
  }
  file.status(R"({"finished":true})");
  return file;
}

TEST(Summary, SkipsTheWarmUpAndListsKernels) {
  const TraceSummary summary =
      summarise(merge_traces({three_steps().text()}), simple_tasks({"step"}), names(), 1);
  EXPECT_THAT(summary.iteration_s,
              ElementsAre(::testing::DoubleNear(16e-3, kTolerance), ::testing::DoubleNear(17e-3, kTolerance)));
  EXPECT_EQ(summary.skipped_iteration_s.size(), 1U);
  ASSERT_EQ(summary.kernels.size(), 1U);
  EXPECT_EQ(summary.kernels[0].count, 3U);
  EXPECT_EQ(summary.kernels[0].work_class, WorkClass::gemm);
  EXPECT_TRUE(summary.remarks().empty());
  EXPECT_EQ(parse_json(format_json(summary.to_json()))["iteration_s"].size(), 2U);
  // However many are to be skipped, one is kept.
  EXPECT_EQ(
      summarise(merge_traces({three_steps().text()}), simple_tasks({"step"}), names(), 9).iteration_s.size(),
      1U);
}

TEST(Summary, SaysWhatIsMissing) {
  const TraceSummary summary = summarise(
      merge_traces({ProcessFile("a", 7).clock(0).range("mine", 0, 1).count(RecordKind::dropped, 3).text()}),
      simple_tasks(), names(), 0);
  EXPECT_THAT(summary.remarks(),
              ElementsAre("process 7 on a did not end by itself: what it did last is missing",
                          "process 7 on a dropped 3 records of device activity and 0 ranges",
                          HasSubstr("say which is which with --tasks. The longest are: mine")));
}

class TracedRun : public ::testing::Test {
 protected:
  TracedRun() {
    const std::string folder = std::string(SEXTANT_TEST_DATA) + "/";
    const Runs all = load_document<Runs>(folder + "runs.json").content;
    const sextant::Run& run = all.runs.front();
    setup_ = {"traced", "mine", all.cluster_of(run), all.workflow_of(run), all.plan_of(run)};
  }
  TracedSetup setup_;
};

TEST_F(TracedRun, HasTheTracesTimesAndReadsBack) {
  const TraceSummary summary =
      summarise(merge_traces({three_steps().text()}), simple_tasks({"step"}), names(), 1);
  Runs runs;
  add_traced_run(summary, setup_, runs);
  const Json json = runs.to_json();
  const Runs read = Runs::parse(JsonView(json));
  ASSERT_EQ(read.runs.size(), 1U);
  EXPECT_EQ(read.runs[0].source, RunSource::trace);
  EXPECT_NEAR(read.runs[0].iteration.samples_s[1], 17e-3, kTolerance);
  EXPECT_NEAR(read.runs[0].tasks.at("actor_generation").samples_s[0], 7e-3, kTolerance);
  EXPECT_THAT(read.runs[0].notes.at("devices in actor_generation"), HasSubstr("GEMM"));
  expect_refusal([&] { add_traced_run(summary, setup_, runs); }, "already");
}

TEST_F(TracedRun, NeedsAnIterationAndATask) {
  Runs runs;
  expect_refusal([&] { add_traced_run({}, setup_, runs); }, "no complete iteration");
  TaskRanges strange;
  strange.tasks = {{"something", {"gen"}, ""}};
  strange.iterations = {"step"};
  const TraceSummary summary = summarise(merge_traces({three_steps().text()}), strange, names(), 1);
  expect_refusal([&] { add_traced_run(summary, setup_, runs); }, "--tasks");
}

}  // namespace
}  // namespace sextant::trace
