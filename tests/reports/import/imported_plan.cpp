#include "tests/reports/import/imported_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "reports/export/trainers/dialects.h"
#include "tests/reports/export/random_trainer_plans.h"
#include "tests/reports/import/configuration_files.h"

namespace sextant::test {

ReadConfiguration read_configuration(const std::string& framework, const std::string& name,
                                     const std::string& text) {
  const ConfigurationFile file(name, text);
  const Importer& importer = *find_importer(framework);
  ReadConfiguration read;
  read.run = read_run_settings({file.path()}, importer.source, {});
  read.facts = importer.read(read.run);
  return read;
}

Workflow workflow_of(const ReadConfiguration& read, bool has_experts) {
  const FrameworkProfile& profile = shipped_profile(read.facts.profile);
  const RunFacts& facts = read.facts;
  const RunGraph graph = graph_of(facts);
  Workflow workflow;
  const auto lacks = [&](const Task& task) { return !workflow.models.contains(task.model); };
  const auto is_other = [&] {
    return workflow.models.empty() || workflow.models.at("actor").experts.has_value() != has_experts ||
           std::any_of(graph.tasks.begin(), graph.tasks.end(), lacks);
  };
  for (unsigned seed = 0; is_other(); ++seed) {
    std::mt19937 random(seed);
    workflow = random_workflow(profile, random);
  }
  workflow.algorithm = graph.algorithm;
  workflow.tasks = graph.tasks;
  workflow.mode = facts.mode;
  workflow.staleness = facts.staleness;
  workflow.prompts = facts.prompts;
  workflow.responses_per_prompt = facts.responses_per_prompt;
  workflow.mini_batches = facts.mini_batches;
  return workflow;
}

Plan plan_of(ReadConfiguration& read, bool has_experts) {
  const FrameworkProfile& profile = shipped_profile(read.facts.profile);
  const Workflow workflow = workflow_of(read, has_experts);
  const Cluster cluster = gpu_cluster(read.facts.nodes);
  Plan plan =
      plan_of_settings(read.run.settings, "plan", {workflow, cluster, profile}, *find_dialect(profile.name));
  check_plan(plan, workflow, cluster);
  read.unused = unused_settings(read.run.settings, *find_importer(profile.family), read.facts);
  return plan;
}

Plan exported_and_read(const Plan& plan, const ReadConfiguration& read, bool has_experts) {
  const FrameworkProfile& profile = shipped_profile(read.facts.profile);
  const Workflow workflow = workflow_of(read, has_experts);
  const Cluster cluster = gpu_cluster(read.facts.nodes);
  const TrainerProblem problem{workflow, cluster, profile};
  const Dialect& dialect = *find_dialect(profile.name);
  const ExportedPlan exported = export_plan(plan, problem, dialect);
  EXPECT_EQ(exported.refusal, "");
  const Plan back = read_exported(exported.text, problem, dialect);
  EXPECT_THAT(export_plan(back, problem, dialect).unsaid, ::testing::IsEmpty());
  return back;
}

}  // namespace sextant::test
