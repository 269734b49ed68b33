#include "ask/predict_question.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "ask/document_source.h"
#include "ask/fitting_change.h"
#include "ask/framework.h"
#include "core/units.h"
#include "planner/search/engine_rules.h"
#include "planner/verify/framework_rules.h"
#include "sextant/error.h"
#include "sextant/predict.h"
#include "sextant/profile_space.h"
#include "sextant/task_choices.h"

namespace sextant::inline ask {
namespace {

// Sentences on what the framework cannot run of a plan that can be costed all the same.
std::vector<std::string> beyond_framework(const FrameworkProfile& profile, const Workflow& workflow,
                                          const Cluster& cluster, const Plan& plan) {
  std::vector<std::string> notes;
  const auto add = [&](const std::string& what) {
    notes.push_back("Note: framework " + profile.name + ", as described here, cannot run this: " + what + ".");
  };
  const ProfiledSpace space = space_of(profile, workflow, cluster);
  std::vector<std::set<DeviceId>> devices;
  for (std::size_t t = 0; t < workflow.tasks.size(); ++t) {
    const Task& task = workflow.tasks[t];
    const TaskPlan& layout = plan.tasks.at(task.name);
    const TaskChoices& choices = space.choices[t];
    devices.push_back(layout.devices());
    int tensor = 1, stages = 1;
    bool has_stages = true;
    for (const Replica& replica : layout.replicas) {
      stages = std::max(stages, replica.pipeline_parallel());
      std::vector<int> layers;
      for (const Stage& stage : replica.stages) {
        tensor = std::max(tensor, layout.tensor_parallel(stage));
        layers.push_back(stage.layers);
      }
      has_stages = has_stages && allows(choices.stages, layers);
    }
    if (choices.max_tensor_parallel > 0 && tensor > choices.max_tensor_parallel)
      add("tensor parallelism of " + std::to_string(tensor) + " in " + task.name);
    if (choices.max_pipeline_parallel > 0 && stages > choices.max_pipeline_parallel)
      add(std::to_string(stages) + " pipeline stages in " + task.name);
    const Precision precision = layout.execution.precision.value_or(workflow.precision);
    const auto of_kind = profile.tasks.find(task.kind);
    const bool is_known = of_kind != profile.tasks.end() && !of_kind->second.precisions.empty();
    if (is_known && !of_kind->second.precisions.contains(precision))
      add(task.name + " in " + std::string(name_of(precision)));
    if (!has_rank_order(layout, choices.rank_order)) add("this order of the devices of " + task.name);
    if (!has_stages) add("these layers of the stages of " + task.name);
    // verl refuses a batch with a sequence that is longer than the micro-batch.
    const double longest = workflow.prompt_tokens.max_tokens() + workflow.response_tokens.max_tokens();
    const Execution& execution = layout.execution;
    const double budget = static_cast<double>(execution.micro_batch_tokens) * execution.context_parallel;
    if (profile.family == "verl" && task.kind != TaskKind::generation && budget > 0 && budget < longest)
      add("micro-batches of " + format_number(budget) + " tokens in " + task.name +
          ", where sequences have up to " + format_number(longest));
  }
  for (const std::string& what : uneven_batches(profile, workflow, plan)) add(what);
  const auto named = [&](const auto& pair) {
    return workflow.tasks[pair.first].name + " and " + workflow.tasks[pair.second].name;
  };
  for (const auto& pair : space.device_rules.same) {
    if (devices[pair.first] != devices[pair.second]) add(named(pair) + " on different devices");
  }
  for (const std::string& what : broken_engine_rules(plan, workflow, space.engine_rules, space.choices))
    add(what);
  const auto share = [&](const auto& pair) {
    return std::any_of(devices[pair.first].begin(), devices[pair.first].end(),
                       [&](DeviceId device) { return devices[pair.second].contains(device); });
  };
  for (const auto& pair : space.device_rules.apart) {
    if (share(pair)) add(named(pair) + " on the same devices");
  }
  for (const auto& pair : space.device_rules.all_or_none) {
    if (share(pair) && devices[pair.first] != devices[pair.second])
      add(named(pair) + ", which share a part of their devices");
  }
  return notes;
}

}  // namespace

void require_plan(const PlanToPredict& question) {
  if (question.plan.empty() && !question.layouts.is_given())
    throw_bad_input(
        "the plan is missing: --plan plan.json, or --train and --rollout, for example fsdp=32 and tp=2");
}

void follow_plans(const std::vector<std::string>& plans, ModelInputs& inputs, std::vector<std::string>& notes) {
  if (!inputs.framework.empty()) return;
  std::set<std::string> frameworks;
  for (const std::string& plan : plans) frameworks.insert(document_of<Plan>(plan).framework);
  if (frameworks.size() > 1) {
    notes.push_back("The plans were made for different frameworks; --framework says which one runs them here.");
  } else if (!frameworks.empty() && !frameworks.begin()->empty()) {
    inputs.framework = *frameworks.begin();
    notes.push_back("The plan was made for " + inputs.framework +
                    ", so it is predicted as that runs it; --framework states another.");
  }
}

PredictedPlan plan_in_question(const PlanToPredict& question, const LoadedInputs& loaded) {
  require_plan(question);
  PredictedPlan predicted;
  std::vector<std::string>& assumed = predicted.prediction.notes;
  predicted.plan = question.plan.empty() ? plan_of(question.layouts, loaded, assumed)
                                         : load_plan(question.plan, loaded, assumed);
  return predicted;
}

void predict_as_asked(const PlanToPredict& question, const LoadedInputs& loaded, PredictedPlan& predicted) {
  const std::vector<std::string> assumed = std::move(predicted.prediction.notes);
  predicted.broken.clear();
  if (loaded.profile) {
    const std::string reason = why_not_offered(*loaded.profile, loaded.workflow);
    if (!reason.empty()) {
      predicted.broken.push_back("Note: " + reason + ".");
    } else if (loaded.profile->name != "any") {
      predicted.broken = beyond_framework(*loaded.profile, loaded.workflow, loaded.cluster, predicted.plan);
    }
  }
  Workflow workflow = loaded.workflow;
  if (loaded.profile) share_frozen_weights(*loaded.profile, predicted.plan, workflow);
  const PredictionQuery asked{loaded.cluster, workflow, predicted.plan, loaded.chosen.coefficients,
                              loaded.chosen.framework};
  predicted.prediction = predict_with_trust(asked);
  predicted.prediction.notes = predicted.broken;
  predicted.prediction.notes.insert(predicted.prediction.notes.end(), assumed.begin(), assumed.end());
  if (!predicted.prediction.fits()) {
    const FrameworkProfile* profile = loaded.profile ? &*loaded.profile : nullptr;
    if (const auto change = change_that_fits(asked, profile))
      predicted.prediction.notes.push_back(change->sentence);
  }
  name_coefficients(predicted.prediction, loaded.chosen);
  if (question.has_sensitivities) predicted.prediction.sensitivities = sensitivities_of(asked);
}

}  // namespace sextant::inline ask
