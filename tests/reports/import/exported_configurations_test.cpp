// The importers read the scripts that the exporters write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/json_value.h"
#include "reports/import/importers.h"
#include "reports/import/yaml_file.h"
#include "tests/reports/export/random_trainer_plans.h"
#include "tests/reports/import/configuration_files.h"

namespace sextant::test {
namespace {

constexpr int kScripts = 100;  // per dialect
constexpr unsigned kMaxSeeds = 2000;

// Without the comments of the script an importer takes the first GPUs.
std::string without_devices(const Plan& plan) {
  std::string out;
  for (const auto& [name, task] : plan.tasks) {
    Execution execution = task.execution;
    execution.kv_cache_bytes = 0;  // rounded by the configuration
    out += name + " " + describe(task) + " " + execution.to_json().dump() + " " +
           std::string(name_of(task.recompute)) + " " + std::to_string(task.micro_batch_sequences) + " " +
           std::to_string(task.decode_batch_sequences) + "\n";
  }
  return out;
}

std::map<std::string, std::vector<Replica>> devices_of(const Plan& plan) {
  std::map<std::string, std::vector<Replica>> out;
  for (const auto& [name, task] : plan.tasks) out[name] = task.replicas;
  return out;
}

std::string task_names_of(const std::vector<Task>& tasks, bool counts_old_log_prob) {
  std::string out;
  for (const Task& task : tasks) {
    if (counts_old_log_prob || task.name != task_names::kOldLogProb) out += task.name + " ";
  }
  return out;
}

// Only verl can leave old_log_prob out: others compute it whatever the workflow says.
void expect_facts(const RunFacts& facts, const Workflow& workflow, const std::string& script) {
  const bool is_verl = facts.profile.rfind("verl", 0) == 0;
  EXPECT_EQ(task_names_of(graph_of(facts).tasks, is_verl), task_names_of(workflow.tasks, is_verl)) << script;
  EXPECT_EQ(facts.mode, workflow.mode) << script;
  EXPECT_EQ(facts.responses_per_prompt, workflow.responses_per_prompt) << script;
  EXPECT_EQ(facts.max_response_tokens, workflow.response_tokens.max_tokens()) << script;
  if (workflow.prompts % workflow.mini_batches != 0) return;
  EXPECT_EQ(facts.prompts, workflow.prompts) << script;
  EXPECT_EQ(facts.mini_batches, workflow.mini_batches) << script;
}

class EveryImporter : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryImporter, ReadsWorkflowAndPlanOfExportedScripts) {
  const Dialect& dialect = *find_dialect(GetParam());
  const FrameworkProfile& profile = shipped_profile(GetParam());
  const Importer& importer = *find_importer(profile.family);
  if (dialect.form == SettingForm::yaml && !has_yaml()) GTEST_SKIP() << "this build has no yaml-cpp";
  int scripts = 0;
  for (unsigned seed = 0; scripts < kScripts && seed < kMaxSeeds; ++seed) {
    std::mt19937 random(seed);
    const Cluster cluster = gpu_cluster(1 << random() % 3);
    const Workflow workflow = random_workflow(profile, random);
    const TrainerProblem problem{workflow, cluster, profile};
    const ExportedPlan exported = export_plan(random_sayable_plan(problem, random), problem, dialect);
    if (!exported.refusal.empty()) continue;
    ++scripts;
    const ConfigurationFile file("run.sh", exported.text);
    RunSettings run = read_run_settings({file.path()}, importer.source, {});
    const RunFacts facts = importer.read(run);
    ASSERT_EQ(facts.profile, GetParam()) << exported.text;
    expect_facts(facts, workflow, exported.text);
    const Plan plan = plan_of_settings(run.settings, "plan", problem, dialect);
    ASSERT_EQ(without_devices(plan), without_devices(exported.plan)) << "seed " << seed << "\n"
                                                                     << exported.text;
    const std::vector<GpuPool> pools = pools_of(run.comments, cluster);
    ASSERT_EQ(devices_of(plan_of_settings(run.settings, "plan", problem, dialect, pools)),
              devices_of(exported.plan))
        << exported.text;
    ASSERT_THAT(unused_settings(run.settings, importer, facts), ::testing::IsEmpty()) << exported.text;
    if (HasFailure()) return;
  }
  EXPECT_EQ(scripts, kScripts);
}

// A script states the precisions that the profile lists, except bf16, which is the default of every framework, and fp8.
TEST_P(EveryImporter, ReadsThePrecisionOfExportedScripts) {
  const Dialect& dialect = *find_dialect(GetParam());
  const FrameworkProfile& profile = shipped_profile(GetParam());
  const Importer& importer = *find_importer(profile.family);
  if (dialect.form == SettingForm::yaml && !has_yaml()) GTEST_SKIP() << "this build has no yaml-cpp";
  for (const Precision precision : {Precision::bf16, Precision::fp16, Precision::fp32}) {
    const std::set<Precision>& known = profile.tasks.at(TaskKind::training).precisions;
    if (GetParam() == "openrlhf" && precision != Precision::bf16) continue;  // its engines have bf16 alone
    if (!known.empty() && !known.contains(precision)) continue;
    for (unsigned seed = 0, scripts = 0; scripts < 5; ++seed) {
      ASSERT_LT(seed, kMaxSeeds);
      std::mt19937 random(seed);
      const Cluster cluster = gpu_cluster(2);
      Workflow workflow = random_workflow(profile, random);
      workflow.precision = precision;
      const TrainerProblem problem{workflow, cluster, profile};
      const ExportedPlan exported = export_plan(random_sayable_plan(problem, random), problem, dialect);
      if (!exported.refusal.empty()) continue;
      // A profile without a list promises nothing; its script says in a note what it does not state.
      const bool is_noted = exported.text.find("which the script does not say") != std::string::npos;
      if (known.empty() && is_noted) break;
      ++scripts;
      const ConfigurationFile file("run.sh", exported.text);
      RunSettings run = read_run_settings({file.path()}, importer.source, {});
      const RunFacts facts = importer.read(run);
      ASSERT_EQ(facts.precision, precision) << exported.text;
      (void)plan_of_settings(run.settings, "plan", problem, dialect);
      ASSERT_THAT(unused_settings(run.settings, importer, facts), ::testing::IsEmpty()) << exported.text;
      ASSERT_THAT(exported.text, ::testing::Not(::testing::HasSubstr("which the script does not say")));
    }
  }
}

std::vector<std::string> imported_profiles() {
  std::vector<std::string> names;
  for (const Dialect& dialect : dialect_table()) {
    if (find_importer(dialect.family) != nullptr) names.emplace_back(dialect.profile);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Trainers, EveryImporter, ::testing::ValuesIn(imported_profiles()),
                         [](const auto& one) {
                           std::string name = one.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace sextant::test
