#include "calibrate/import/published/published_times.h"

#include <map>
#include <vector>

#include "core/json_value.h"

namespace sextant {
namespace {

// The timer of an entry of tasks_s as Run::tasks names it; empty for what is not the time of a task.
std::string timer_name(const std::string& entry, const PublishedRecord& record, Mode mode) {
  const bool is_synchronous = mode == Mode::synchronous;
  // verl up to 0.7: the engine wakes up and takes the weights inside the timer of generation.
  const bool syncs_inside = record.framework.starts_with("verl") && is_synchronous;
  if (entry == "actor_gen") return syncs_inside ? "actor_generation+weight_sync" : "actor_generation";
  // A part of actor_gen, the mean over workers, which is all there is where generation runs beside training.
  if (entry == "generate_sequences") return is_synchronous ? "" : "actor_generation";
  if (entry == "old_logp_inf") return kOldLogProb;
  if (entry == "ref_inf") return task_names::kReferenceInference;
  if (entry == "reward_inf") return record.models.contains("reward") ? task_names::kRewardInference : "";
  if (entry == "critic_inf") return task_names::kCriticInference;
  if (entry == "actor_train") return task_names::kActorTraining;
  if (entry == "critic_train") return task_names::kCriticTraining;
  if (entry == "weight_sync") return kWeightSync;
  if (entry == "logprob_inf" || entry == "policy_and_ref_forward") return "old_log_prob+reference_inference";
  if (entry == "training") return "actor_training+critic_training";
  if (entry == "actor_gen_and_inference") {
    return "actor_generation+reward_inference+old_log_prob+reference_inference+critic_inference";
  }
  return "";
}

// The parts of a trainer that does not wait for generation run one after another, so they cannot sum to more
// than the whole. 3 %: the largest deviation between phases and step in synchronous logs.
bool trainer_contradicts(const PublishedRecord& record, Mode mode) {
  if (mode == Mode::synchronous || !record.iteration_s) return false;
  double sum_s = 0;
  for (const auto& [entry, time_s] : record.tasks_s) {
    if (entry != "generate_sequences") sum_s += time_s;
  }
  constexpr double kTolerance = 0.03;
  return sum_s > (1 + kTolerance) * *record.iteration_s;
}

}  // namespace

bool Repetitions::take(const PublishedRecord& record, const std::string& entry, double time_s) {
  const auto layout = record.plan.find(entry);
  if (layout == record.plan.end()) return false;
  const std::string source = record.source.substr(0, record.source.find(','));
  return !seen_
              .insert(source + "\n" + entry + "\n" + layout->second.text + "\n" + record.workload_text + "\n" +
                      Json(time_s).dump())
              .second;
}

void set_task_times(const PublishedRecord& record, Repetitions& repetitions, MeasuredIteration& iteration) {
  if (trainer_contradicts(record, iteration.mode)) {
    add_note(iteration.notes, "dropped",
             "The times of tasks, because the trainer's parts sum to more than its iteration.");
    return;
  }
  for (const auto& [entry, time_s] : record.tasks_s) {
    if (entry == "wait_for_samples") {
      iteration.waits[task_names::kActorGeneration] = {time_s};
      continue;
    }
    const std::string timer = timer_name(entry, record, iteration.mode);
    if (timer.empty()) {
      add_note(iteration.notes, "other times", entry + " " + Json(time_s).dump() + " s.");
    } else if (repetitions.take(record, entry, time_s)) {
      add_note(iteration.notes, "dropped", "The time of " + timer + ": printed for another row before.");
    } else {
      iteration.timers[timer] = {time_s};
    }
  }
}

void set_samples(const PublishedRecord& record, MeasuredIteration& iteration) {
  if (record.iteration_s) iteration.iteration_s = {*record.iteration_s};
  std::vector<double> iterations;
  std::map<std::string, std::vector<double>> timers;
  for (const PublishedSample& sample : record.samples) {
    if (sample.iteration_s) iterations.push_back(*sample.iteration_s);
    for (const auto& [entry, time_s] : sample.tasks_s) {
      if (const std::string timer = timer_name(entry, record, iteration.mode); !timer.empty())
        timers[timer].push_back(time_s);
    }
  }
  if (!iterations.empty()) iteration.iteration_s = iterations;
  for (auto& [timer, samples] : timers) {
    if (iteration.timers.contains(timer)) iteration.timers[timer] = samples;
  }
}

}  // namespace sextant
