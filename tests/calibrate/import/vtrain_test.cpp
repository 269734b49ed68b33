#include "calibrate/import/tables/vtrain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/csv.h"
#include "tests/calibrate/import/step_cases.h"
#include "tests/core/expect_error.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kHeader =
    "run_id,gpu_type,node_count,gpu_count,hidden,layers,heads,seq_tokens,global_batch_sequences,micro_batch_"
    "sequences,"
    "tp,pp,dp,micro_batches_per_replica,iteration_time_s\n";

const Imported& carried() {
  static const Imported imported = import_runs(
      "vtrain", {carried_file("vtrain/single_node_runs.csv"), carried_file("vtrain/multi_node_runs.csv")},
      carried_facts());
  return imported;
}

Imported import_text(const std::string& rows) {
  OwnFiles files;
  return read_vtrain({files.write("runs.csv", kHeader + rows)}, carried_facts());
}

TEST(Vtrain, EveryCarriedRowIsARun) {
  EXPECT_THAT(carried().runs.runs, SizeIs(1120 + 72));
  EXPECT_THAT(carried().left_out, IsEmpty());
  EXPECT_THAT(count_by_framework(carried()), ElementsAre(std::pair("megatron-deepspeed", 1192)));
  expect_sound(carried());
}

TEST(Vtrain, ReadsAPlanOfManyNodes) {
  const sextant::Run& run = run_named(carried(), "vtm0015");
  EXPECT_THAT(run.iteration.samples_s, ElementsAre(10.7193));
  EXPECT_THAT(run.tasks, IsEmpty());
  const TaskPlan& task = task_of(carried(), "vtm0015");
  EXPECT_EQ(task.data_parallel(), 4);
  EXPECT_THAT(task.replicas[0].stages, SizeIs(1));
  EXPECT_EQ(task.tensor_parallel(task.replicas[0].stages[0]), 16);  // over two nodes
  EXPECT_EQ(task.micro_batch_sequences, 16);
  const Cluster& cluster = cluster_of(carried(), "vtm0015");
  EXPECT_EQ(cluster.device_count(), 64);
  EXPECT_THAT(cluster.nodes(), SizeIs(8));
  EXPECT_EQ(cluster.nodes()[0].network_bytes_per_s, 100e9);  // 800 Gbit/s
}

TEST(Vtrain, ModelIsAGptWithFourTimesTheWidth) {
  const Model& model = model_of(carried(), "vtm0015");
  EXPECT_EQ(model.intermediate, 4 * 3072);
  EXPECT_FALSE(model.gated_mlp);
  EXPECT_TRUE(model.tied_embeddings);
  EXPECT_EQ(model.vocabulary, 50257);
  EXPECT_EQ(model.head_dim, 96);
  // 12 h^2 a layer and one table: the 3.6 billion of the source's label.
  EXPECT_NEAR(model.parameters(), 3.6e9, 0.05e9);
  const Workflow& workflow = carried().runs.workflow_of(run_named(carried(), "vtm0015"));
  EXPECT_EQ(workflow.precision, Precision::fp16);
}

TEST(Vtrain, ManyNodesRecomputeAndOneNodeDoesNotSay) {
  EXPECT_EQ(task_of(carried(), "vtm0001").recompute, Recompute::full);
  EXPECT_THAT(run_named(carried(), "vtm0001").unstated, IsEmpty());
  EXPECT_EQ(task_of(carried(), "vts0001").recompute, Recompute::none);
  const Unstated expected{UnstatedQuantity::recompute, "vtrain-single", 0.5};
  EXPECT_THAT(run_named(carried(), "vts0001").unstated, ElementsAre(expected));
  EXPECT_THAT(run_named(carried(), "vts0001").notes.at("left unsaid"), HasSubstr("recomputation"));
  EXPECT_THAT(run_named(carried(), "vtm0001").notes.at("left unsaid"), Not(HasSubstr("recomputation")));
}

TEST(Vtrain, OneNodeCarriesTheCaveatOfItsProvenance) {
  for (const sextant::Run& run : carried().runs.runs) {
    const bool is_one_node = carried().runs.cluster_of(run).nodes().size() == 1;
    EXPECT_EQ(run.notes.contains("caveat"), is_one_node) << run.name;
  }
  EXPECT_THAT(run_named(carried(), "vts0001").notes.at("caveat"), HasSubstr("not an independent"));
}

// Why they carry it: another micro-batch adds the same time to the nanosecond, whatever their number.
TEST(Vtrain, RowsOfOneNodeAreExactlyLinearInMicroBatches) {
  constexpr double kPrintedTo = 1e-9;
  const CsvTable table = load_csv(carried_file("vtrain/single_node_runs.csv"));
  std::map<std::vector<std::string>, std::map<int, double>> groups;  // by all else: time by micro-batches
  for (const CsvRow& row : table.rows()) {
    std::vector<std::string> key;
    for (const char* column : {"hidden", "layers", "micro_batch_sequences", "tp", "pp", "dp"}) {
      key.push_back(row.text(column));
    }
    groups[key][row.count("micro_batches_per_replica", 1)] = row.positive("iteration_time_s");
  }
  int checked = 0;
  for (const auto& [key, times] : groups) {
    if (times.size() < 3) continue;
    const auto [first, first_s] = *times.begin();
    const auto [last, last_s] = *times.rbegin();
    const double slope_s = (last_s - first_s) / (last - first);
    for (const auto& [count, time_s] : times) {
      EXPECT_NEAR(time_s, first_s + slope_s * (count - first), 4 * count * kPrintedTo);
    }
    ++checked;
  }
  EXPECT_EQ(checked, 224);
}

TEST(Vtrain, PipelineIsOutermost) {
  const Imported imported = import_text("a,A100,1,8,1024,12,16,1024,16,2,2,2,2,4,0.2\n");
  const std::vector<Replica>& replicas = task_of(imported, "a").replicas;
  ASSERT_THAT(replicas, SizeIs(2));
  EXPECT_THAT(replicas[0].stages[0].devices, ElementsAre(DeviceId{0}, DeviceId{1}));
  EXPECT_THAT(replicas[1].stages[0].devices, ElementsAre(DeviceId{2}, DeviceId{3}));
  EXPECT_THAT(replicas[0].stages[1].devices, ElementsAre(DeviceId{4}, DeviceId{5}));
}

TEST(Vtrain, LeavesOutRowsThatContradictThemselves) {
  const Imported imported = import_text(
      "good,A100,1,2,1024,12,16,1024,4,2,2,1,1,2,0.1\n"
      "degrees,A100,1,4,1024,12,16,1024,4,2,2,1,1,2,0.1\n"
      "batch,A100,1,2,1024,12,16,1024,5,2,2,1,1,2,0.1\n"
      "stages,A100,1,2,1024,1,16,1024,4,2,1,2,1,2,0.1\n"
      "heads,A100,1,8,1024,12,4,1024,4,2,8,1,1,2,0.1\n"
      "gpu,Z80,1,2,1024,12,16,1024,4,2,2,1,1,2,0.1\n"
      "again,A100,1,2,1024,12,16,1024,4,2,2,1,1,2,0.1\n");
  EXPECT_THAT(imported.runs.runs, SizeIs(1));
  EXPECT_THAT(reason_for(imported, "degrees"), HasSubstr("1 x 1 x 2 x 1 are not the 4 GPUs"));
  EXPECT_THAT(reason_for(imported, "batch"), HasSubstr("5 sequences cannot be cut into 1 replicas"));
  EXPECT_THAT(reason_for(imported, "stages"), HasSubstr("2 pipeline stages for a model of 1 layers"));
  EXPECT_THAT(reason_for(imported, "heads"), HasSubstr("exceeds the model's 4 heads"));
  EXPECT_THAT(reason_for(imported, "gpu"), HasSubstr("Z80"));
  EXPECT_THAT(reason_for(imported, "again"), HasSubstr("those of good to the last digit"));
}

TEST(Vtrain, RefusesWhatIsNotOfTheForm) {
  OwnFiles files;
  const auto other = files.write("other.csv", "a,b\n1,2\n");
  EXPECT_THAT(refusal_of([&] { (void)read_vtrain({other}, carried_facts()); }), HasSubstr("run_id"));
  const auto refusal = [](const std::string& row) { return refusal_of([&] { (void)import_text(row); }); };
  EXPECT_THAT(refusal("a,A100,1,2,1024,12,16,1024,4,2,2,1,1,2,0\n"), HasSubstr("iteration_time_s"));
  EXPECT_THAT(refusal("a,A100,1,2,1024,12,15,1024,4,2,2,1,1,2,1\n"), HasSubstr("heads"));
  EXPECT_THAT(refusal("a,A100,1,2,2000000,12,16,1024,4,2,2,1,1,2,1\n"), HasSubstr("hidden"));
  EXPECT_THAT(refusal("a,A100,1,2,1024,12,16,1024,4,0,2,1,1,2,1\n"), HasSubstr("micro_batch_sequences"));
}

}  // namespace
}  // namespace sextant
