#include "calibrate/import/tables/sailor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <sstream>

#include "calibrate/import/tables/sailor_tables.h"
#include "core/csv.h"
#include "core/json_value.h"
#include "tests/calibrate/import/step_cases.h"
#include "tests/core/expect_error.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr double kMicrosecond = 1e-6;

std::filesystem::path file(const std::string& name) { return carried_file("sailor/" + name); }

// With which plans and layer times are read.
std::vector<std::filesystem::path> tables() {
  return {file("models.json"), file("network_curves.csv"), file("gpu_types.csv"), file("layer_sizes.csv")};
}

Imported import_with_tables(const std::filesystem::path& measured) {
  std::vector<std::filesystem::path> files = tables();
  files.push_back(measured);
  return import_runs("sailor", files, carried_facts());
}

const Imported& plans() {
  static const Imported imported = import_with_tables(file("plans.json"));
  return imported;
}

const Imported& layers() {
  static const Imported imported = import_with_tables(file("layer_times.csv"));
  return imported;
}

// ---- curves ----

TEST(SailorCurve, FlatCurveIsABandwidthWithoutLatency) {
  const LinkRate link =
      fit_link({.constant = 8e9, .max_bytes_per_s = 8e9, .positive_from_bytes = 65536, .pairs = 4});
  EXPECT_NEAR(link.latency_s.value, 0, 1e-12);
  EXPECT_NEAR(link.bytes_per_s.value, 2e9, 1);  // a pair's share of the total
}

TEST(SailorCurve, RateThatGrowsWithTheMessageIsLatency) {
  const LinkRate link = fit_link(
      {.linear = 1e9, .constant = 5e9, .max_bytes_per_s = 10e9, .positive_from_bytes = 65536, .pairs = 1});
  EXPECT_GT(link.latency_s.value, 0);
  EXPECT_GT(link.bytes_per_s.value, 8e9);
  EXPECT_LT(link.bytes_per_s.value, 11e9);
}

TEST(SailorCurve, NeedsTwoMessages) {
  const BandwidthCurve none{.constant = -1, .max_bytes_per_s = 1e9, .positive_from_bytes = 65536, .pairs = 1};
  EXPECT_THAT(refusal_of([&] { (void)fit_link(none); }), HasSubstr("fewer than two"));
}

// The fit must tell the times of the sizes that training sends: megabytes.
TEST(SailorCurve, FitsFollowTheCarriedCurves) {
  constexpr double kMegabytes = 32e6;
  constexpr double kAgreement = 0.25;
  SailorTables known(carried_facts());
  const CsvTable curves = load_csv(file("network_curves.csv"));
  ASSERT_TRUE(known.add(load_csv(file("gpu_types.csv"))));
  ASSERT_TRUE(known.add(curves));
  int checked = 0;
  for (const CsvRow& row : curves.rows()) {
    const bool is_one_pair = row.text("scope") == "inter_node" && row.count("send_gpu_count") == 1 &&
                             row.count("receive_gpu_count") == 1;
    const auto link = known.between_nodes(row.text("send_gpu_type"), row.text("receive_gpu_type"));
    if (!is_one_pair || !link) continue;
    const double x = std::log2(kMegabytes / 1e6);
    const double rate = std::min(row.positive("max_bandwidth_bytes_per_s"),
                                 row.number("quadratic_bytes_per_s") * x * x +
                                     row.number("linear_bytes_per_s") * x + row.number("constant_bytes_per_s"));
    const double fitted_s = link->latency_s.value + kMegabytes / link->bytes_per_s.value;
    EXPECT_NEAR(fitted_s / (kMegabytes / rate), 1, kAgreement) << row.place();
    ++checked;
  }
  EXPECT_GT(checked, 20);
}

// ---- plans ----

TEST(SailorPlans, EveryPlanIsARunButTheCopy) {
  EXPECT_THAT(count_by_framework(plans()), ElementsAre(Pair("megatron-deepspeed", 19)));
  EXPECT_THAT(plans().left_out, SizeIs(1));
  EXPECT_THAT(reason_for(plans(), "mit-N3-N3_D1"),
              HasSubstr("those of mit-N6-N6_D2 to the last digit: a copy"));
  expect_sound(plans());
}

TEST(SailorPlans, ReadsStagesOfUnlikeGpus) {
  const std::string name = "mit-N4-N4_D1";
  const sextant::Run& run = run_named(plans(), name);
  EXPECT_THAT(run.iteration.samples_s, ElementsAre(83.76622));
  EXPECT_EQ(run.peak_memory_bytes, 6233784320.0);
  const TaskPlan& task = task_of(plans(), name);
  ASSERT_THAT(task.replicas, SizeIs(1));
  std::vector<int> decoder_layers;
  std::vector<std::string> types;
  for (const Stage& stage : task.replicas[0].stages) {
    decoder_layers.push_back(stage.layers);
    types.push_back(cluster_of(plans(), name).type_name(stage.devices.front()));
    EXPECT_EQ(stage.width(), 8);
  }
  // The source counts the embedding with the first stage's 5, the head with the last one's 7.
  EXPECT_THAT(decoder_layers, ElementsAre(4, 7, 7, 6));
  EXPECT_THAT(types, ElementsAre("RTX-3090", "RTX-2080-Ti", "Titan-RTX", "RTX-2080-Ti"));
  EXPECT_FALSE(task.execution.fused_attention);
  EXPECT_EQ(task.recompute, Recompute::none);
}

TEST(SailorPlans, ReadsReplicasOfUnlikeGpus) {
  const TaskPlan& task = task_of(plans(), "mit-N6-N6_D2");
  ASSERT_THAT(task.replicas, SizeIs(2));
  const Cluster& cluster = cluster_of(plans(), "mit-N6-N6_D2");
  EXPECT_EQ(cluster.type_name(task.replicas[0].stages[0].devices[0]), "RTX-3090");
  EXPECT_EQ(cluster.type_name(task.replicas[1].stages[0].devices[0]), "RTX-2080-Ti");
  EXPECT_DOUBLE_EQ(task.replicas[1].batch_share, 0.5);
}

TEST(SailorPlans, LinksComeFromTheCurves) {
  const Cluster& cluster = cluster_of(plans(), "clariden-OPT-350-N4-N4_D4");
  EXPECT_TRUE(cluster.has_uniform_links());
  // One pair of four reaches 22.9e9 bytes/s at most, all together 92.6e9.
  const LinkRate& pair = cluster.link(DeviceId{0}, DeviceId{4});
  EXPECT_NEAR(pair.bytes_per_s.value, 22.9e9, 2e9);
  EXPECT_GT(pair.latency_s.value, kMicrosecond);
  EXPECT_EQ(pair.bytes_per_s.source, Source::measured);
  EXPECT_NEAR(*cluster.nodes()[0].network_bytes_per_s, 92.6e9, 8e9);
  // Each pair within a node its own 125e9, so that a ring over four has three of them.
  EXPECT_NEAR(cluster.link(DeviceId{0}, DeviceId{1}).bytes_per_s.value, 3 * 125e9, 40e9);
}

TEST(SailorPlans, MixedClustersHaveExceptionalLinks) {
  const Cluster& cluster = cluster_of(plans(), "mit-N6-N6_D6");
  EXPECT_FALSE(cluster.has_uniform_links());
  std::map<std::string, DeviceId> first;  // device of each type, then one of another node
  std::map<std::string, DeviceId> second;
  for (int d = 0; d < cluster.device_count(); d += 8) {
    const DeviceId device{d};
    if (!first.emplace(cluster.type_name(device), device).second)
      second.emplace(cluster.type_name(device), device);
  }
  const auto rate = [&](DeviceId a, DeviceId b) { return cluster.link(a, b).bytes_per_s.value; };
  EXPECT_NEAR(rate(first.at("Titan-RTX"), second.at("Titan-RTX")), 2.86e9, 0.2e9);
  EXPECT_NEAR(rate(first.at("RTX-3090"), first.at("Titan-RTX")), 0.115e9, 0.01e9);
  EXPECT_NEAR(rate(first.at("Titan-RTX"), first.at("RTX-2080-Ti")), 0.115e9, 0.01e9);
}

TEST(SailorPlans, GpusWithoutTf32RunItAsFp32) {
  const Cluster& cluster = cluster_of(plans(), "mit-N4-N4_D1");
  const auto rate = [&](const char* type, Precision precision) {
    return cluster.device_types().at(type).flop_per_s.at(precision).value;
  };
  EXPECT_EQ(rate("Titan-RTX", Precision::tf32), rate("Titan-RTX", Precision::fp32));
  EXPECT_EQ(cluster.device_types().at("Titan-RTX").memory_bytes.value, 25769803776.0);
  const Workflow& workflow = plans().runs.workflow_of(run_named(plans(), "mit-N4-N4_D1"));
  EXPECT_EQ(workflow.precision, Precision::tf32);
  EXPECT_EQ(workflow.sequences(), 256);
}

// One plan of one stage a replica, with what a test changes in it.
Json plan_json(const Json& changes = Json::object()) {
  Json stage = {{"layer_first", 0}, {"layer_last", 25}, {"layer_count", 26}};
  stage["replicas"] = {{{"gpu_type", "GH-96"}, {"gpu_count", 2}, {"tp", 2}},
                       {{"gpu_type", "GH-96"}, {"gpu_count", 2}, {"tp", 2}}};
  Json plan = {{"plan_id", "a"},
               {"cluster", "c"},
               {"model", "OPT-350"},
               {"node_count", 1},
               {"gpu_count", 4},
               {"gpu_types", {{"GH-96", 4}}},
               {"global_batch_sequences", 16},
               {"micro_batch_sequences", 2},
               {"seq_tokens", 2048},
               {"layer_count_in_plan", 26},
               {"pp", 1},
               {"dp", 2},
               {"micro_batches_per_replica", 4},
               {"stages", Json::array({stage})},
               {"iteration_time_s", 1.0},
               {"gradient_sync_s", 0.1},
               {"max_memory_bytes", 1e10},
               {"notes", ""}};
  plan.update(changes);
  return plan;
}

Imported import_plans(const std::vector<Json>& some) {
  OwnFiles files;
  const Json document = {{"schema", "sextant-data.sailor-plans/1"}, {"about", ""}, {"plans", some}};
  return import_with_tables(files.write("plans.json", format_json(document)));
}

TEST(SailorPlans, ReplicasShareANodeWhereThePlanHasFewer) {
  const Imported imported = import_plans({plan_json()});
  ASSERT_THAT(imported.runs.runs, SizeIs(1));
  const TaskPlan& task = task_of(imported, "a");
  EXPECT_THAT(task.replicas[0].stages[0].devices, ElementsAre(DeviceId{0}, DeviceId{1}));
  EXPECT_THAT(task.replicas[1].stages[0].devices, ElementsAre(DeviceId{2}, DeviceId{3}));
  EXPECT_THAT(cluster_of(imported, "a").nodes(), SizeIs(1));
}

TEST(SailorPlans, ReplicasHaveNodesOfTheirOwnWhereThePlanHasAsMany) {
  const Imported imported = import_plans({plan_json({{"node_count", 2}})});
  EXPECT_THAT(task_of(imported, "a").replicas[1].stages[0].devices, ElementsAre(DeviceId{4}, DeviceId{5}));
}

TEST(SailorPlans, LeavesOutPlansThatContradictThemselves) {
  const Imported imported =
      import_plans({plan_json({{"plan_id", "model"}, {"model", "GPT"}, {"iteration_time_s", 2}}),
                    plan_json({{"plan_id", "batch"}, {"global_batch_sequences", 15}, {"iteration_time_s", 3}}),
                    plan_json({{"plan_id", "nodes"}, {"node_count", 5}, {"iteration_time_s", 4}}),
                    plan_json({{"plan_id", "copy"}, {"iteration_time_s", 5}}),
                    plan_json({{"plan_id", "kept"}, {"iteration_time_s", 5}})});
  EXPECT_THAT(reason_for(imported, "model"), HasSubstr("GPT"));
  EXPECT_THAT(reason_for(imported, "batch"), HasSubstr("do not make up the global batch"));
  EXPECT_THAT(reason_for(imported, "nodes"), HasSubstr("number of its nodes"));
  EXPECT_THAT(reason_for(imported, "kept"), HasSubstr("those of copy"));
  EXPECT_THAT(imported.runs.runs, SizeIs(1));
}

TEST(SailorPlans, LeavesOutWhatNoTableKnows) {
  Json other_type = plan_json({{"plan_id", "type"}, {"iteration_time_s", 2}});
  other_type["stages"][0]["replicas"][0]["gpu_type"] = "Z80";
  Json missing_layer = plan_json({{"plan_id", "layer"}, {"iteration_time_s", 3}});
  missing_layer["stages"][0]["layer_last"] = 24;
  Json unlinked = plan_json({{"plan_id", "link"}, {"node_count", 2}, {"iteration_time_s", 4}});
  unlinked["stages"][0]["replicas"][0]["gpu_type"] = "A100-80";
  const Imported imported = import_plans({other_type, missing_layer, unlinked});
  EXPECT_THAT(reason_for(imported, "type"), HasSubstr("Z80"));
  EXPECT_THAT(reason_for(imported, "layer"), HasSubstr("do not cover the model's layers"));
  EXPECT_THAT(reason_for(imported, "link"), HasSubstr("no curve of the network between"));
}

TEST(SailorPlans, RefusesWhatIsNotOfTheForm) {
  Json misspelt = plan_json();
  misspelt["iteration_time"] = 1;
  EXPECT_THAT(refusal_of([&] { (void)import_plans({misspelt}); }), HasSubstr("plans.json: /plans/0"));
  Json wide = plan_json();
  wide["stages"][0]["replicas"][0]["gpu_count"] = 4;
  EXPECT_THAT(refusal_of([&] { (void)import_plans({wide}); }), HasSubstr("/plans/0/stages/0/replicas/0/tp"));
  OwnFiles files;
  const auto other = files.write("other.csv", "a,b\n1,2\n");
  EXPECT_THAT(refusal_of([&] { (void)import_with_tables(other); }), HasSubstr("not one of Sailor's tables"));
  EXPECT_THAT(refusal_of([&] { (void)read_sailor({file("plans.json")}, carried_facts()); }),
              HasSubstr("no table of models"));
}

// ---- layers ----

std::vector<int> lines_in(const std::string& note) {
  std::vector<int> out;
  std::istringstream in(note);
  std::string line;
  while (std::getline(in, line, ',')) out.push_back(std::stoi(line));
  return out;
}

TEST(SailorLayers, EveryRowIsInARunOrLeftOut) {
  std::set<int> used;
  for (const sextant::Run& run : layers().runs.runs) {
    for (const int line : lines_in(run.notes.at("layer_times.csv lines"))) used.insert(line);
  }
  std::set<int> left_out;
  for (const LeftOut& it : layers().left_out)
    left_out.insert(std::stoi(it.record.substr(it.record.rfind(' '))));
  EXPECT_THAT(left_out, SizeIs(layers().left_out.size()));
  EXPECT_EQ(used.size() + left_out.size(), 826u);
  for (const int line : left_out) EXPECT_FALSE(used.contains(line)) << line;
  EXPECT_THAT(count_by_framework(layers()), ElementsAre(Pair("megatron-deepspeed-profile", 2 * 177)));
  expect_sound(layers());
}

// OPT-350 on GH-96, one GPU, one sequence: update 1.358 ms (the median over micro-batches), of which a layer
// has 12,596,224 of 130,314,240 parameters.
TEST(SailorLayers, TwoRunsUseEachTimeOnce) {
  constexpr double kUpdate = 1.358e-3;
  constexpr double kShare = 12596224.0 / 130314240;
  const auto time_s = [](const std::string& name) {
    return run_named(layers(), name).tasks.at(task_names::kActorTraining).median_s();
  };
  EXPECT_NEAR(time_s("OPT-350 GH-96 tp1 b1 layer"), 1.225e-3 + 2.685e-3 + kUpdate * kShare, 1e-9);
  EXPECT_NEAR(time_s("OPT-350 GH-96 tp1 b1 ends"),
              0.22e-3 + 0.002e-3 + 1.403e-3 + 2.685e-3 + 2.068e-3 + 2.109e-3 + kUpdate * (1 - kShare), 1e-9);
}

TEST(SailorLayers, ModelsHaveOneLayerWithAndWithoutEnds) {
  const Model& layer = model_of(layers(), "OPT-350 GH-96 tp4 b8 layer");
  EXPECT_EQ(layer.layers, 1);
  EXPECT_EQ(layer.vocabulary, 0);
  const Model& ends = model_of(layers(), "OPT-350 GH-96 tp4 b8 ends");
  EXPECT_EQ(ends.vocabulary, 50304);
  EXPECT_FALSE(ends.tied_embeddings);  // the profile's sizes count both tables
  EXPECT_TRUE(model_of(layers(), "LLAMA-3-8 GH-96 tp4 b1 ends").tied_embeddings);
  // 268.5e6 in a layer of LLAMA-3-8 as profiled.
  EXPECT_NEAR(model_of(layers(), "LLAMA-3-8 GH-96 tp4 b1 layer").layer_parameters(), 268.5e6, 0.1e6);
  const TaskPlan& task = task_of(layers(), "OPT-350 GH-96 tp4 b8 layer");
  EXPECT_EQ(task.replicas[0].stages[0].width(), 4);
  EXPECT_EQ(task.micro_batch_sequences, 8);
}

TEST(SailorLayers, TakesTheCopyThatIsNotRounded) {
  EXPECT_THAT(reason_for(layers(), "layer_times.csv line 480"),
              HasSubstr("OPT-350 GH-96 tp4 b1 is taken: planner"));
  EXPECT_THAT(reason_for(layers(), "layer_times.csv line 380"),
              HasSubstr("OPT-350 A100-80 tp4 b1 is taken: simulator"));
}

TEST(SailorLayers, RatesAboveTheVectorUnitsProveTf32) {
  const auto precision = [](const std::string& name) {
    return layers().runs.workflow_of(run_named(layers(), name)).precision;
  };
  EXPECT_EQ(precision("OPT-350 GH-96 tp1 b1 layer"), Precision::tf32);
  EXPECT_EQ(precision("OPT-350 A100-80 tp4 b1 layer"), Precision::tf32);
  EXPECT_EQ(precision("OPT-30 A100-40 tp4 b1 layer"), Precision::fp32);  // 18e12 of 19.5e12 at most
  EXPECT_EQ(precision("OPT-350 V100-16 tp1 b1 layer"), Precision::fp32);
}

constexpr const char* kTimesHeader =
    "model,gpu_type,tp,micro_batch_sequences,layer_first,layer_last,layer_kind,forward_s,backward_s,optimizer_"
    "update_s,"
    "profile_set\n";

TEST(SailorLayers, LeavesOutProfilesThatAreNotWhole) {
  OwnFiles files;
  const Imported imported = import_with_tables(files.write(
      "times.csv", std::string(kTimesHeader) + "OPT-350,GH-96,1,1,0,0,embedding,0.1,0.1,0.01,both\n"
                                               "OPT-350,GH-96,1,1,1,24,transformer,0.1,0.1,0.01,both\n"
                                               "OPT-350,GH-96,2,1,0,0,embedding,0.1,0.1,0,both\n"
                                               "OPT-350,GH-96,2,1,1,24,transformer,0.1,0.1,0,both\n"
                                               "OPT-350,GH-96,2,1,25,25,head,0.1,0.1,0,both\n"
                                               "OPT-350,Z80,1,1,0,0,embedding,0.1,0.1,0.01,both\n"
                                               "GPT,GH-96,1,1,0,0,embedding,0.1,0.1,0.01,both\n"));
  EXPECT_THAT(imported.runs.runs, IsEmpty());
  EXPECT_THAT(imported.left_out, SizeIs(7));
  EXPECT_THAT(reason_for(imported, "layer_times.csv line 2"), HasSubstr("lacks"));
  EXPECT_THAT(reason_for(imported, "layer_times.csv line 4"), HasSubstr("update is not stated"));
  EXPECT_THAT(reason_for(imported, "layer_times.csv line 7"), HasSubstr("Z80"));
  EXPECT_THAT(reason_for(imported, "layer_times.csv line 8"), HasSubstr("GPT"));
}

TEST(SailorLayers, RefusesWhatIsNotOfTheForm) {
  OwnFiles files;
  const auto kind = files.write(
      "times.csv", std::string(kTimesHeader) + "OPT-350,GH-96,1,1,0,0,attention,0.1,0.1,0.01,both\n");
  EXPECT_THAT(refusal_of([&] { (void)import_with_tables(kind); }), HasSubstr("layer_kind"));
  std::vector<std::filesystem::path> without_sizes = tables();
  without_sizes.pop_back();
  without_sizes.push_back(file("layer_times.csv"));
  EXPECT_THAT(refusal_of([&] { (void)read_sailor(without_sizes, carried_facts()); }), HasSubstr("layer sizes"));
}

}  // namespace
}  // namespace sextant
