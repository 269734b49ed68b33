#include "calibrate/import/records/measured_iteration.h"

#include <algorithm>
#include <array>
#include <utility>

#include "sextant/error.h"

namespace sextant::inline calibrate {
namespace {

struct KnownTask {
  const char* name;
  TaskKind kind;
  const char* role;
};

// In an order in which each comes after what it needs.
constexpr std::array<KnownTask, 7> kTasks{{
    {task_names::kActorGeneration, TaskKind::generation, "actor"},
    {task_names::kRewardInference, TaskKind::inference, "reward"},
    {kOldLogProb, TaskKind::inference, "actor"},
    {task_names::kReferenceInference, TaskKind::inference, "reference"},
    {task_names::kCriticInference, TaskKind::inference, "critic"},
    {task_names::kActorTraining, TaskKind::training, "actor"},
    {task_names::kCriticTraining, TaskKind::training, "critic"},
}};

const KnownTask& known_task(const std::string& name) {
  const auto found =
      std::find_if(kTasks.begin(), kTasks.end(), [&name](const KnownTask& task) { return task.name == name; });
  SEXTANT_CHECK(found != kTasks.end());
  return *found;
}

const MeasuredTask* find_task(const MeasuredIteration& iteration, const std::string& name) {
  const auto found = std::find_if(iteration.tasks.begin(), iteration.tasks.end(),
                                  [&name](const MeasuredTask& task) { return task.name == name; });
  return found == iteration.tasks.end() ? nullptr : &*found;
}

// ---- lengths ----

constexpr int kBisections = 60;  // to the last bit of a double, nearly

// The root of an increasing function between `low` and `high`.
template <typename Function>
double bisect(double low, double high, Function function) {
  for (int i = 0; i < kBisections; ++i) {
    const double middle = 0.5 * (low + high);
    (function(middle) < 0 ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

Lengths lognormal(double median, double sigma, double max) {
  Lengths out;
  out.kind = LengthKind::lognormal;
  out.median = median;
  out.sigma = sigma;
  out.max = max;
  return out;
}

// ---- workflow and plan ----

std::vector<std::string> needed_by(TaskKind kind, const std::vector<Task>& earlier) {
  std::vector<std::string> after;
  if (kind == TaskKind::generation) return after;
  for (const Task& task : earlier) {
    const bool is_experience = kind == TaskKind::training && task.kind == TaskKind::inference;
    const bool is_rollout = kind == TaskKind::inference && task.kind == TaskKind::generation;
    if (is_experience || is_rollout) after.push_back(task.name);
  }
  if (!after.empty() || kind == TaskKind::inference) return after;
  for (const Task& task : earlier) {  // training without inference needs the rollout itself
    if (task.kind == TaskKind::generation) after.push_back(task.name);
  }
  return after;
}

std::vector<Task> graph_of(const MeasuredIteration& iteration) {
  std::vector<Task> tasks;
  for (const KnownTask& known : kTasks) {
    if (!iteration.has_task(known.name)) continue;
    std::vector<std::string> after = needed_by(known.kind, tasks);
    tasks.push_back({known.name, known.kind, known.role, std::move(after)});
  }
  return tasks;
}

bool has_names_of(const std::vector<Task>& tasks, const std::vector<Task>& standard) {
  return tasks.size() == standard.size() &&
         std::all_of(standard.begin(), standard.end(), [&tasks](const Task& wanted) {
           return std::any_of(tasks.begin(), tasks.end(),
                              [&wanted](const Task& task) { return task.name == wanted.name; });
         });
}

Algorithm algorithm_of(const std::vector<Task>& tasks) {
  if (has_names_of(tasks, ppo_tasks()) || has_names_of(tasks, ppo_tasks({}, false))) return Algorithm::ppo;
  if (has_names_of(tasks, grpo_tasks(false)) || has_names_of(tasks, grpo_tasks(true))) return Algorithm::grpo;
  return Algorithm::custom;
}

Workflow workflow_of(const MeasuredIteration& iteration) {
  Workflow workflow;
  workflow.name = iteration.name;
  workflow.tasks = graph_of(iteration);
  workflow.algorithm = algorithm_of(workflow.tasks);
  for (const Task& task : workflow.tasks) {
    Model model = iteration.models.at(task.model);
    model.value_head = task.model == "critic" || task.model == "reward";
    workflow.models[task.model] = std::move(model);
  }
  workflow.prompts = iteration.prompts;
  workflow.responses_per_prompt = iteration.responses_per_prompt;
  workflow.mini_batches = iteration.mini_batches;
  workflow.prompt_tokens = iteration.prompt_tokens;
  workflow.response_tokens = iteration.response_tokens;
  workflow.rule_reward_s_per_sequence = iteration.rule_reward_s_per_sequence;
  return workflow;
}

// The bytes that a serving engine reserves for keys and values on each device; 0 if its weights leave nothing.
double cache_bytes(const MeasuredTask& task, const Model& model, const Gpu& gpu) {
  const Precision stored =
      task.execution.weight_precision.value_or(task.execution.precision.value_or(Precision::bf16));
  const double width = task.degrees.tensor_parallel * task.degrees.pipeline_parallel;
  const double weights = bytes_per_element(stored) * model.parameters() / width;
  return std::max(0.0, task.memory_fraction * gpu.type.memory_bytes.value - weights);
}

TaskPlan plan_of(const MeasuredTask& task, const Model& model, const Gpu& gpu) {
  if (model.layers < task.degrees.pipeline_parallel) {
    throw_bad_input("it has more pipeline stages than layers");
  }
  const bool is_served = task.execution.continuous_batching;
  TaskPlan plan =
      is_served ? uniform_task(task.degrees, model.layers) : trainer_task(task.degrees, model.layers);
  plan.micro_batch_sequences = task.micro_batch_sequences;
  plan.decode_batch_sequences = task.decode_batch_sequences;
  plan.recompute = task.recompute;
  plan.execution = task.execution;
  plan.execution.context_parallel = task.degrees.context_parallel;
  if (task.memory_fraction > 0) plan.execution.kv_cache_bytes = cache_bytes(task, model, gpu);
  return plan;
}

// ---- times ----

bool is_measured_here(const std::string& timer, const MeasuredIteration& iteration) {
  const bool syncs =
      iteration.has_task(task_names::kActorGeneration) && iteration.has_task(task_names::kActorTraining);
  const std::vector<std::string> parts = parts_of_timer(timer);
  return std::all_of(parts.begin(), parts.end(), [&](const std::string& part) {
    return part == kWeightSync ? syncs : iteration.has_task(part);
  });
}

void set_times(MeasuredIteration& iteration, Run& run) {
  const bool is_whole =
      iteration.has_task(task_names::kActorGeneration) && iteration.has_task(task_names::kActorTraining);
  if (is_whole) {
    run.iteration.samples_s = iteration.iteration_s;
  } else if (!iteration.iteration_s.empty()) {
    add_note(iteration.notes, "dropped",
             "The iteration's time, because the layout of some tasks is not stated.");
  }
  for (const auto& [timer, samples] : iteration.timers) {
    if (samples.empty()) continue;
    if (is_measured_here(timer, iteration)) {
      run.tasks[timer].samples_s = samples;
    } else {
      add_note(iteration.notes, "dropped",
               "The time of " + timer + ", because the layout of some of its tasks is not stated.");
    }
  }
}

}  // namespace

bool MeasuredIteration::has_task(const std::string& task) const { return find_task(*this, task) != nullptr; }

Lengths lengths_with_mean(double mean, double sigma, double max) {
  constexpr double kSmallestSigma = 0.01;
  while (sigma > kSmallestSigma && lognormal(max, sigma, max).mean_tokens() < mean) sigma *= 0.5;
  if (!(mean < max) || sigma <= kSmallestSigma) return fixed_length(mean);
  const double median = bisect(mean * 1e-3, max, [&](double candidate) {
    return lognormal(candidate, sigma, max).mean_tokens() - mean;
  });
  return lognormal(median, sigma, max);
}

Lengths lengths_with_longest(double mean, double longest, double count, double max) {
  constexpr double kNarrow = 0.05, kWide = 1.5;
  if (!(longest < max) || !(mean < longest)) return lengths_with_mean(mean, kUsualSigma, max);
  const double sigma = bisect(kNarrow, kWide, [&](double candidate) {
    return lengths_with_mean(mean, candidate, max).longest_of(count) - longest;
  });
  return lengths_with_mean(mean, sigma, max);
}

std::string role_of_task(const std::string& task) { return known_task(task).role; }

void add_note(std::map<std::string, std::string>& notes, const std::string& key, const std::string& sentence) {
  std::string& note = notes[key];
  note += (note.empty() ? "" : " ") + sentence;
}

void add_measured_iteration(Imported& imported, MeasuredIteration iteration) {
  Run run;
  run.name = iteration.name;
  run.source = RunSource::import;
  run.framework = iteration.framework;
  set_times(iteration, run);
  run.unstated = iteration.unstated;
  run.notes = iteration.notes;
  if (run.iteration.empty() && run.tasks.empty()) {
    imported.left_out.push_back({iteration.name, "no time of a task with a known layout is stated"});
    return;
  }
  try {
    Plan plan;
    for (const MeasuredTask& task : iteration.tasks) {
      const Model& model = iteration.models.at(role_of_task(task.name));
      plan.tasks[task.name] = plan_of(task, model, iteration.gpu);
    }
    const Cluster cluster = uniform_cluster(iteration.gpu, iteration.gpus, iteration.gpus_per_node);
    // Runs without generation take the sequences as they are: nothing generates, and both lengths still count.
    add_run(imported.runs, std::move(run), cluster, workflow_of(iteration), std::move(plan));
  } catch (const Error& error) {
    imported.left_out.push_back({iteration.name, std::string("its plan cannot be run: ") + error.what()});
  }
}

}  // namespace sextant::inline calibrate
