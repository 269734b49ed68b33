// Each file of tests/data/bad is refused with exactly this sentence.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "tests/core/expect_error.h"
#include "tests/documents/fixtures.h"

namespace sextant {
namespace {

struct Bad {
  const char* file;
  const char* message;
};

void PrintTo(const Bad& bad, std::ostream* out) { *out << bad.file; }

const Bad kClusters[] = {
    {"truncated",
     "/nodes/1/name: syntax error while parsing object key - invalid string: missing closing quote; last read: "
     "'\"reg'; "
     "expected string literal (line 81, column 10)"},
    {"wrong_kind",
     "/schema: expected a sextant.cluster document, got \"sextant.plan/1.0\"; to make one: sextant probe --out "
     "cluster.json, or without measuring sextant plan --gpus ... --save-inputs FOLDER"},
    {"future_major",
     "/schema: \"sextant.cluster/2.0\" was written by a newer Sextant; this one reads sextant.cluster/1.3"},
    {"future_minor",
     "/schema: \"sextant.cluster/1.4\" was written by a newer Sextant; this one reads sextant.cluster/1.3"},
    {"negative", "/nodes/1/devices: expected an integer >= 1, got -2"},
    {"missing_member", "/nodes/1: missing member \"devices\""},
    {"unknown_member",
     "/nodes/1/devcies: unknown member; known ones are name, region, zone, device_type, devices, "
     "host_memory_bytes, link, network_bytes_per_s, rented_whole"},
    {"unknown_end", "/link_exceptions/0/to: unknown device \"virginia-0/4\""},
    {"missing_level", "/links/between_regions: missing; nodes \"virginia-0\" and \"ohio-0\" meet there"},
    {"nan",
     "/links/between_regions/bytes_per_s/value: syntax error while parsing value - invalid literal; last read: "
     "'\"value\": N' (line 123, column 18)"},
    {"overflow",
     "/links/between_regions/bytes_per_s/value: number overflow parsing '1.1e999' (line 123, column 25)"},
    {"duplicate_key", "/nodes/0/name: duplicate key (line 73, column 12)"},
    {"trailing",
     "syntax error while parsing value - unexpected '{'; expected end of input (line 151, column 1)"},
};

const Bad kPlans[] = {
    {"unknown_device",
     "/tasks/actor_training/replicas/0/stages/1/devices/0: unknown device 9; the cluster has 8 (0 to 7)"},
    {"layers_not_covered", "/tasks/actor_training/replicas/0/stages: layers sum to 14, the model has 16"},
    {"device_twice",
     "/tasks/actor_training/replicas/0/stages/0/devices/2: device 2 is used twice in this stage"},
    {"device_in_two_stages",
     "/tasks/actor_training/replicas/0/stages/1/devices/3: device 0 is used twice in this task"},
    {"too_much_tensor_parallel",
     "/tasks/actor_training/replicas/0/stages/0/devices: tensor parallelism 8 exceeds the model's 4 heads"},
    {"uneven_tensor_parallel",
     "/tasks/critic_inference/replicas/0/stages/0/devices: tensor parallelism 3 does not divide the model's 4 "
     "heads"},
    {"missing_task", "/tasks: missing task \"critic_training\" of the workflow"},
    {"unknown_task",
     "/tasks/actor_trainning: unknown task; the workflow has actor_generation, reward_inference, "
     "reference_inference, critic_inference, actor_training, critic_training"},
    {"shares", "/tasks/actor_generation/replicas: the batch shares sum to 1.25, not to 1"},
    {"wrong_count",
     "/tasks/critic_training/devices/count: expected data_parallel * pipeline_parallel * tensor_parallel = 2 * "
     "2 * 1 "
     "devices, got 3"},
};

std::string bad_file(const std::string& name) { return data_file("bad/" + name + ".json"); }

class BadCluster : public ::testing::TestWithParam<Bad> {};

TEST_P(BadCluster, IsRefused) {
  const std::string file = bad_file(GetParam().file);
  EXPECT_EQ(refusal_of([&file] { (void)load_document<Cluster>(file); }), file + ": " + GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(Data, BadCluster, ::testing::ValuesIn(kClusters),
                         [](const auto& bad) { return std::string(bad.param.file); });

class BadPlan : public ::testing::TestWithParam<Bad> {};

TEST_P(BadPlan, IsRefused) {
  const std::string text = read_text_file(bad_file(GetParam().file));
  const auto workflow = load_fixture<Workflow>("workflow_ppo.json");
  const auto cluster = load_fixture<Cluster>("cluster.json");
  const auto read = [&] { check_plan(parse_document<Plan>(text).content, workflow, cluster); };
  EXPECT_EQ(refusal_of(read), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(Data, BadPlan, ::testing::ValuesIn(kPlans),
                         [](const auto& bad) { return std::string(bad.param.file); });

TEST(BadDocuments, NoneIsForgotten) {
  std::set<std::string> tested;
  for (const Bad& bad : kClusters) tested.insert(bad.file);
  for (const Bad& bad : kPlans) tested.insert(bad.file);
  std::set<std::string> present;
  for (const auto& entry : std::filesystem::directory_iterator(data_file("bad"))) {
    present.insert(entry.path().stem());
  }
  EXPECT_EQ(tested, present);
}

}  // namespace
}  // namespace sextant
