// Documents of every version that a Sextant has written are read (CONTRIBUTING.md, Versions of documents).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <map>
#include <set>

#include "calibrate/accuracy.h"
#include "core/json_value.h"
#include "documents/experiments.h"
#include "documents/explanation.h"
#include "lab/claims/claims.h"
#include "lab/reproduce/reproduction.h"
#include "planner/coschedule/group.h"
#include "planner/coschedule/job.h"
#include "planner/coschedule/simulation/simulate.h"
#include "probes/fleet/compare/cluster_difference.h"
#include "probes/report/fleet_record.h"
#include "probes/topology/link_facts.h"
#include "probes/trace/analysis/kernel_names.h"
#include "probes/trace/analysis/task_ranges.h"
#include "sextant/cluster.h"
#include "sextant/coefficients.h"
#include "sextant/document.h"
#include "sextant/framework_profile.h"
#include "sextant/model.h"
#include "sextant/plan.h"
#include "sextant/prediction.h"
#include "sextant/run.h"
#include "sextant/search.h"
#include "sextant/workflow.h"
#include "tests/core/expect_error.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(SEXTANT_TEST_DATA) / "versions";

struct Kind {
  SchemaVersion version;
  std::function<void(const fs::path&)> read;  // throws Error if the file cannot be read
};

// Documents that are read are also written again, in the present version.
template <typename T>
void read_and_write(const fs::path& file) {
  const auto read = load_document<T>(file);
  if constexpr (requires { read.content.to_json(); }) {
    const std::string written = format_document(read);
    EXPECT_EQ(format_document(parse_document<T>(written)), written) << file;
  }
}

template <typename T>
std::pair<const std::string, Kind> kind_of() {
  return {std::string(T::kKind), {T::kVersion, read_and_write<T>}};
}

void read_profile(const fs::path& file) {
  const Json json = parse_json(read_text_file(file));
  EXPECT_FALSE(FrameworkProfile::parse(JsonView(json)).tasks.empty()) << file;
}

// The table of the profile's parser has the versions.
constexpr SchemaVersion kProfileVersion{1, 9};

const std::map<std::string, Kind>& kinds() {
  static const std::map<std::string, Kind> all{kind_of<Accuracy>(),
                                               kind_of<ClaimReport>(),
                                               kind_of<Cluster>(),
                                               kind_of<ClusterDifference>(),
                                               kind_of<Coefficients>(),
                                               kind_of<Experiments>(),
                                               kind_of<Explanation>(),
                                               kind_of<FleetRecord>(),
                                               kind_of<trace::KernelNames>(),
                                               kind_of<LinkFacts>(),
                                               kind_of<Model>(),
                                               kind_of<Plan>(),
                                               kind_of<Prediction>(),
                                               kind_of<Reproduction>(),
                                               kind_of<Runs>(),
                                               kind_of<SearchRecord>(),
                                               kind_of<trace::TaskRanges>(),
                                               kind_of<Workflow>(),
                                               kind_of<coschedule::JobDocument>(),
                                               kind_of<coschedule::JobTrace>(),
                                               kind_of<coschedule::Placement>(),
                                               kind_of<coschedule::Simulation>(),
                                               {"framework_profile", {kProfileVersion, read_profile}}};
  return all;
}

// "plan" and "1.2" of "plan-1.2-padding.json".
struct Name {
  std::string kind, version;
};

Name name_of_file(const fs::path& file) {
  const std::string stem = file.stem().string();
  const std::size_t dash = stem.find('-');
  return {stem.substr(0, dash), stem.substr(dash + 1, stem.find('-', dash + 1) - dash - 1)};
}

std::vector<fs::path> fixtures() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  return files;
}

// Reproductions are pages of the lab, which are made again; version 1 had no causes and contradictions.
bool is_left_out(const Name& name) { return name.kind == "reproduction" && name.version == "1.0"; }

TEST(DocumentVersions, EachIsRead) {
  for (const fs::path& file : fixtures()) {
    const Name name = name_of_file(file);
    if (name.kind == "summary" || is_left_out(name)) continue;  // cli/summary_test.cpp reads the summary
    ASSERT_TRUE(kinds().contains(name.kind)) << file;
    const Json json = parse_json(read_text_file(file));
    EXPECT_EQ(json.at("schema"), "sextant." + name.kind + "/" + name.version) << file;
    EXPECT_NO_THROW(kinds().at(name.kind).read(file)) << file;
  }
}

// A new version needs a document of the one before, and of itself.
TEST(DocumentVersions, EachHasADocument) {
  std::set<std::string> found;
  for (const fs::path& file : fixtures())
    found.insert(name_of_file(file).kind + "-" + name_of_file(file).version);
  for (const auto& [name, kind] : kinds()) {
    for (int minor = 0; minor <= kind.version.minor; ++minor) {
      const std::string wanted = name + "-" + std::to_string(kind.version.major) + "." + std::to_string(minor);
      EXPECT_TRUE(found.contains(wanted)) << "tests/data/versions/" << wanted << ".json is missing";
    }
  }
}

TEST(DocumentVersions, OldReproductionsAreRefusedWithTheReason) {
  EXPECT_THAT(refusal_of([] { (void)load_document<Reproduction>(kFolder / "reproduction-1.0.json"); }),
              testing::HasSubstr("was written by an older Sextant; this one reads sextant.reproduction/2.1"));
}

Plan plan_of_version(const std::string& version) {
  return load_document<Plan>(kFolder / ("plan-" + version + ".json")).content;
}

// Members that a version brought are read, and later ones are neutral.
TEST(DocumentVersions, PlansHaveWhatTheirVersionBrought) {
  const auto execution = [](const std::string& version) {
    return plan_of_version(version).tasks.at("training").execution;
  };
  EXPECT_EQ(execution("1.1").context_parallel, 2);
  EXPECT_EQ(execution("1.1").padding, Execution{}.padding);
  EXPECT_EQ(execution("1.2").padding, Padding::micro_batch);
  EXPECT_EQ(execution("1.3").sharded_over, 0);
  EXPECT_EQ(execution("1.4").sharded_over, 8);
  EXPECT_EQ(plan_of_version("1.4").weight_sync.bucket_bytes, 0);
  EXPECT_EQ(plan_of_version("1.5").weight_sync.bucket_bytes, 536870912);
  // Stages outermost: the second stage of the first replica comes after all first stages.
  const Plan staged = plan_of_version("1.3");
  EXPECT_EQ(staged.tasks.at("training").replicas.at(0).stages.at(1).devices.at(0), DeviceId{256});
}

// The first records had no number of devices.
TEST(DocumentVersions, SearchesHaveWhatTheirVersionBrought) {
  const auto version = [](const std::string& name) {
    return load_document<SearchRecord>(kFolder / ("search-" + name + ".json")).content;
  };
  EXPECT_EQ(version("1.0").devices, 0);
  EXPECT_EQ(version("1.1").devices, 4);
  EXPECT_EQ(version("1.2").framework, "verl");
  EXPECT_EQ(version("1.3").risk->goal, "p90");
}

// The rule of stages had another name.
TEST(DocumentVersions, OldProfilesHaveEvenStages) {
  const Json json = parse_json(read_text_file(kFolder / "framework_profile-1.1.json"));
  EXPECT_EQ(FrameworkProfile::parse(JsonView(json)).tasks.at(TaskKind::training).stages, StageRule::even);
}

TEST(DocumentVersions, PredictionsHaveWhatTheirVersionBrought) {
  const auto version = [](const std::string& name) {
    return load_document<Prediction>(kFolder / ("prediction-" + name + ".json")).content;
  };
  EXPECT_EQ(version("1.0").controller_s, 0);
  EXPECT_EQ(version("1.1").controller_s, 0.125);
  EXPECT_EQ(version("1.1").data_s, 0);
  EXPECT_EQ(version("1.2").data_s, 0.03125);
  EXPECT_TRUE(version("1.2").staleness_fractions.empty());
  EXPECT_EQ(version("1.3").mean_staleness(), 0.75);
  EXPECT_FALSE(version("1.3").weight_sync_interval_s);
  EXPECT_EQ(version("1.4").weight_sync_interval_s->low, 0.2);
}

}  // namespace
}  // namespace sextant
