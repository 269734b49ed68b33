#include "sextant/predict.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>
#include <utility>

#include "core/units.h"
#include "costmodel/iteration.h"
#include "costmodel/staleness.h"
#include "costmodel/terms/memory.h"
#include "costmodel/timeline.h"

namespace sextant {
namespace {

std::string percent_of(double part, double whole) { return format_percent(whole > 0 ? part / whole : 0, 0); }

// Names a part of the iteration that takes longer than every task: "; the controller takes more, 37 %, ...".
std::string longer_than_tasks(const Prediction& prediction, double longest_task_s) {
  struct Part {
    double time_s;
    const char* words;
    const char* remark;
  };
  const Part parts[] = {{prediction.controller_s, "the controller takes",
                         ", which no layout changes: the framework's own process handles every sequence"},
                        {prediction.rule_reward_s, "rewards by rule take", ", which no layout changes"},
                        {prediction.weight_sync_s, "weight synchronization takes", ""},
                        {prediction.data_s, "data between tasks takes", ""}};
  const Part* longest = std::max_element(std::begin(parts), std::end(parts),
                                         [](const Part& a, const Part& b) { return a.time_s < b.time_s; });
  if (longest->time_s <= longest_task_s) return "";
  return std::string("; ") + longest->words + " more, " + percent_of(longest->time_s, prediction.iteration_s) +
         longest->remark;
}

// A cache that is smaller than the sequences which could decode together makes their steps many.
std::string cache_limit(const TaskWork& work, int replica) {
  constexpr double kNearlyAll = 0.9;
  if (work.kind() != TaskKind::generation || work.execution().kv_cache_bytes <= 0) return "";
  const ReplicaWork& share = work.replicas.at(static_cast<std::size_t>(replica));
  const double limit = work.plan->decode_batch_sequences;
  const double could = limit > 0 ? std::min(limit, share.sequences) : share.sequences;
  if (share.decoding_sequences() > kNearlyAll * could) return "";
  return "; the KV cache holds " + format_number(std::round(share.decoding_sequences())) + " of the " +
         format_number(std::round(could)) + " sequences that could decode at once";
}

// Says when generation is as long as its environments or the workers of its rewards take for all sequences.
std::string environments_limit(const TaskWork& work, double time_s, const Workflow& workflow) {
  constexpr double kNearlyAll = 0.9;
  if (work.environments_s == 0 || work.environments_s < kNearlyAll * time_s) return "";
  const RolloutRules& rollout = workflow.rollout;
  const bool are_rewards = rollout.has_rewards_beside && workflow.rule_reward_s_per_sequence /
                                                                 rollout.reward_workers * workflow.sequences() *
                                                                 rollout_batch(workflow).generated >=
                                                             work.environments_s;
  return std::string("; ") + (are_rewards ? "the rule scores " : "there are ") +
         std::to_string(are_rewards ? rollout.reward_workers : rollout.environments) +
         (are_rewards ? " at a time and takes " : " environments, which take ") +
         format_seconds(work.environments_s) + " for all responses";
}

std::string bottleneck_sentence(const Prediction& prediction, const Workflow& workflow,
                                std::span<const TaskWork> works) {
  const Task* slowest = nullptr;
  for (const Task& task : workflow.tasks) {
    if (slowest == nullptr ||
        prediction.tasks.at(task.name).time_s > prediction.tasks.at(slowest->name).time_s) {
      slowest = &task;
    }
  }
  if (slowest == nullptr) return "no tasks";
  const TaskPrediction& task = prediction.tasks.at(slowest->name);
  const auto term = std::max_element(task.terms_s.begin(), task.terms_s.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  const TaskWork& work = works[static_cast<std::size_t>(slowest - workflow.tasks.data())];
  const std::string limit = environments_limit(work, task.time_s, workflow);
  return slowest->name + " takes " + percent_of(task.time_s, prediction.iteration_s) + " of the iteration, " +
         percent_of(term->second, task.time_s) + " of it " + std::string(name_of(term->first)) + " (replica " +
         std::to_string(task.critical_replica) + ", stage " + std::to_string(task.critical_stage) + ")" +
         (limit.empty() ? cache_limit(work, task.critical_replica) : limit) +
         longer_than_tasks(prediction, task.time_s);
}

// When the last generation and the last other task end, where both begin at the same time.
struct Sides {
  double generation_s = 0, rest_s = 0;
};
Sides sides_of(const Workflow& workflow, const std::vector<TimedSpan<double>>& spans) {
  Sides sides;
  for (std::size_t t = 0; t < spans.size(); ++t) {
    double& end = workflow.tasks[t].kind == TaskKind::generation ? sides.generation_s : sides.rest_s;
    end = std::max(end, spans[t].end_s);
  }
  return sides;
}

// How long training waits for its parts of a batch that is still being made: where it may not be made ahead.
double wait_for_parts_s(const Workflow& workflow, const Sides& sides) {
  return workflow.staleness < 1 ? streamed_s(workflow, sides.generation_s, sides.rest_s) - sides.rest_s : 0;
}

void place_in_time(Prediction& prediction, const Workflow& workflow,
                   std::span<const PlacedTask<double>> placed) {
  const std::vector<TimedSpan<double>> spans = task_spans(workflow, placed);
  const bool overlaps = generation_overlaps(workflow.mode, placed);
  const double wait_s = overlaps ? wait_for_parts_s(workflow, sides_of(workflow, spans)) : 0;
  for (std::size_t t = 0; t < spans.size(); ++t) {
    TaskPrediction& task = prediction.tasks.at(workflow.tasks[t].name);
    const double waited_s = workflow.tasks[t].kind == TaskKind::generation ? 0 : wait_s;
    task.start_s = spans[t].start_s + waited_s;
    task.end_s = spans[t].end_s + waited_s;
    task.queued_s = spans[t].start_s - spans[t].ready_s;
  }
}

std::vector<double> staleness_of(const Workflow& workflow, std::span<const TaskWork> works,
                                 std::span<const PlacedTask<double>> placed) {
  const auto generation = std::find_if(
      works.begin(), works.end(), [](const TaskWork& work) { return work.kind() == TaskKind::generation; });
  if (generation == works.end()) return {};
  const Sides sides = sides_of(workflow, task_spans(workflow, placed));
  return staleness_fractions(workflow,
                             {sides.generation_s, sides.rest_s, generation_overlaps(workflow.mode, placed),
                              carried_sequences(*generation, workflow)});
}

}  // namespace

Prediction predict(const Cluster& cluster, const Workflow& workflow, const Plan& plan,
                   const Coefficients& coefficients, std::string_view framework) {
  check_plan(plan, workflow, cluster);
  if (!states_all(plan)) {
    Plan filled = plan;
    std::vector<std::string> assumed = fill_in_unstated(filled, workflow);
    Prediction prediction = predict(cluster, workflow, filled, coefficients, framework);
    prediction.notes = std::move(assumed);
    return prediction;
  }
  Hardware<double> hardware(cluster);
  CoefficientValues<double> values = resolve(coefficients, hardware, framework);
  const Problem<double> problem(workflow, plan, std::move(hardware), std::move(values));
  const std::vector<TaskWork> works = works_of(workflow, plan, cluster);
  const IterationCost<double> cost = iteration_cost(problem, std::span<const TaskWork>(works));

  Prediction prediction;
  prediction.workflow = workflow.name;
  prediction.plan = plan.name;
  prediction.cluster = cluster.name();
  prediction.weight_sync_s = cost.weight_sync_s;
  prediction.weight_sync_hidden_s = cost.hidden_s;
  prediction.data_s = cost.data_s;
  prediction.controller_s = controller_s(workflow, problem.coefficients);
  prediction.rule_reward_s = rule_reward_s(workflow);
  for (std::size_t t = 0; t < workflow.tasks.size(); ++t) {
    TaskPrediction task;
    task.time_s = cost.tasks[t].time_s;
    task.exposed_s = std::max(0.0, exposed_s(problem, cost, t));
    for (int term = 0; term < kTermCount; ++term) {
      task.terms_s[static_cast<Term>(term)] = cost.tasks[t].terms_s[static_cast<std::size_t>(term)];
    }
    task.critical_replica = cost.tasks[t].critical_replica;
    task.critical_stage = cost.tasks[t].critical_stage;
    const std::set<DeviceId> devices = plan.tasks.at(workflow.tasks[t].name).devices();
    task.devices.assign(devices.begin(), devices.end());
    prediction.tasks[workflow.tasks[t].name] = std::move(task);
  }
  place_in_time(prediction, workflow, cost.placed);
  prediction.staleness_fractions = staleness_of(workflow, works, cost.placed);
  prediction.iteration_s = cost.iteration_s;
  prediction.sequences_per_s = workflow.sequences() / prediction.iteration_s;
  prediction.memory = plan_memory(works, cluster, problem.coefficients, problem.hardware);
  prediction.host_memory = host_memory(works, cluster);
  prediction.bottleneck = bottleneck_sentence(prediction, workflow, works);
  return prediction;
}

}  // namespace sextant
