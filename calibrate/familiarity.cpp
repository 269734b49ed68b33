#include "calibrate/familiarity.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "core/units.h"

namespace sextant::inline calibrate {
namespace {

struct Feature {
  double TaskExperience::*member;
  double step;  // a factor
  const char* noun;
};
constexpr std::array<Feature, 7> kFeatures{{
    {&TaskExperience::parameters, 4, "parameters"},
    {&TaskExperience::sequence_tokens, 4, "tokens in a sequence"},
    {&TaskExperience::replica_sequences, 8, "sequences on a replica"},
    {&TaskExperience::tensor_parallel, 2, "ways of tensor parallelism"},
    {&TaskExperience::pipeline_parallel, 4, "pipeline stages"},
    {&TaskExperience::data_parallel, 4, "replicas"},
    {&TaskExperience::nodes, 4, "nodes"},
}};
constexpr double kOtherDevice = 1.5;
constexpr double kOtherKind = 1;  // framework, precision, experts, network under tensor parallelism

double log_of(double value) { return std::log(std::max(value, 1.0)); }

bool spans_nodes(const Cluster& cluster, const TaskPlan& plan, const Stage& stage) {
  const auto width = static_cast<std::size_t>(plan.tensor_parallel(stage));
  std::set<int> nodes;
  for (std::size_t k = 0; k < std::min(width, stage.devices.size()); ++k) {
    nodes.insert(cluster.node_of(stage.devices[k]).value);
  }
  return nodes.size() > 1;
}

TaskExperience experience_of(const PreparedRun& run, const TaskWork& work) {
  const Cluster& cluster = run.cluster();
  TaskExperience out;
  out.run = run.run().name;
  out.framework = run.run().framework;
  out.kind = work.kind();
  std::set<std::string> types;
  std::set<int> nodes;
  for (const DeviceId device : work.devices) {
    types.insert(cluster.type_name(device));
    nodes.insert(cluster.node_of(device).value);
  }
  out.device_types.assign(types.begin(), types.end());
  out.precision = work.precision;
  out.experts = work.model->experts.has_value();
  out.parameters = slice_parameters(*work.model, work.model->layers, true, true);
  out.sequence_tokens = work.sequence_tokens();
  for (std::size_t i = 0; i < work.replicas.size(); ++i) {
    const Replica& replica = work.plan->replicas[i];
    out.replica_sequences = std::max(out.replica_sequences, work.replicas[i].sequences);
    out.pipeline_parallel = std::max<double>(out.pipeline_parallel, replica.pipeline_parallel());
    for (const Stage& stage : replica.stages) {
      out.tensor_parallel = std::max<double>(out.tensor_parallel, work.plan->tensor_parallel(stage));
      if (!out.tensor_parallel_between_nodes) {
        out.tensor_parallel_between_nodes = spans_nodes(cluster, *work.plan, stage);
      }
    }
  }
  out.data_parallel = work.plan->data_parallel();
  out.nodes = static_cast<double>(nodes.size());
  return out;
}

// "80", "2448", "14.8 billion": counts of things.
std::string shown_count(double count) {
  constexpr double kMillion = 1e6, kBillion = 1e9;
  if (count >= kBillion) return format_number(count / kBillion) + " billion";
  if (count >= kMillion) return format_number(count / kMillion) + " million";
  return std::to_string(std::llround(count));
}

std::string shown(const TaskExperience& asked, const Feature& feature) {
  return shown_count(asked.*feature.member) + " " + feature.noun;
}

// Reasons: properties of the query that no run of its kind (and device type) had.
void add_new_kinds(const TaskExperience& asked, const std::vector<const TaskExperience*>& seen,
                   std::vector<std::string>& reasons) {
  const std::string kind(name_of(asked.kind));
  const auto any = [&](auto matches) {
    return std::any_of(seen.begin(), seen.end(), [&](const TaskExperience* s) { return matches(*s); });
  };
  if (!asked.framework.empty() && !any([&](const auto& s) { return s.framework == asked.framework; })) {
    reasons.push_back("no " + kind + " of framework " + asked.framework + " was calibrated");
  }
  for (const std::string& type : asked.device_types) {
    const bool known = any([&](const TaskExperience& s) {
      return std::find(s.device_types.begin(), s.device_types.end(), type) != s.device_types.end();
    });
    if (known) continue;
    std::string reason = "no " + kind;
    reasons.push_back(reason.append(" on ").append(type).append(" was calibrated"));
  }
  if (asked.device_types.size() > 1 && !any([](const auto& s) { return s.device_types.size() > 1; })) {
    reasons.push_back("no " + kind + " on mixed devices was calibrated");
  }
  if (asked.experts && !any([](const auto& s) { return s.experts; })) {
    reasons.push_back("no " + kind + " of a model with experts was calibrated");
  }
  if (!any([&](const auto& s) { return s.precision == asked.precision; })) {
    reasons.push_back("no " + kind + " in " + std::string(name_of(asked.precision)) + " was calibrated");
  }
  if (asked.tensor_parallel_between_nodes &&
      !any([](const auto& s) { return s.tensor_parallel_between_nodes; })) {
    reasons.push_back("no tensor parallelism between nodes was calibrated in " + kind);
  }
  if (asked.nodes > 1 && !any([](const auto& s) { return s.nodes > 1; })) {
    reasons.push_back("no " + kind + " on several nodes was calibrated");
  }
}

struct Range {
  double minimum, maximum;
};

Range range_of(const Feature& feature, const std::vector<const TaskExperience*>& seen) {
  const auto less = [&](const TaskExperience* a, const TaskExperience* b) {
    return a->*feature.member < b->*feature.member;
  };
  const auto [minimum, maximum] = std::minmax_element(seen.begin(), seen.end(), less);
  return {(*minimum)->*feature.member, (*maximum)->*feature.member};
}

// Steps above the range, or below it (negative).
double steps_beyond(double value, const Range& range, const Feature& feature) {
  const double above = log_of(value) - log_of(range.maximum), below = log_of(value) - log_of(range.minimum);
  return (std::max(0.0, above) + std::min(0.0, below)) / std::log(feature.step);
}

void add_out_of_range(const TaskExperience& asked, const std::vector<const TaskExperience*>& seen,
                      std::vector<std::string>& reasons) {
  for (const Feature& feature : kFeatures) {
    const Range range = range_of(feature, seen);
    const double steps = steps_beyond(asked.*feature.member, range, feature);
    if (steps > 1) {
      reasons.push_back(shown(asked, feature) + ", calibrated up to " + shown_count(range.maximum));
    } else if (steps < -1) {
      reasons.push_back(shown(asked, feature) + ", calibrated from " + shown_count(range.minimum));
    }
  }
}

std::vector<const TaskExperience*> of_kind(TaskKind kind, const std::vector<TaskExperience>& seen) {
  std::vector<const TaskExperience*> same_kind;
  for (const TaskExperience& task : seen) {
    if (task.kind == kind) same_kind.push_back(&task);
  }
  return same_kind;
}

// The same for tasks that are alike.
std::string key_of(const TaskExperience& task) {
  std::string key = task.framework + "|" + std::string(name_of(task.kind)) +
                    std::string(name_of(task.precision)) + (task.experts ? "e" : "") +
                    (task.tensor_parallel_between_nodes ? "n" : "");
  for (const std::string& type : task.device_types) key += "|" + type;
  for (const Feature& feature : kFeatures) key += "|" + std::to_string(task.*feature.member);
  return key;
}

// Times of one kind say what is known of the other if no run has any.
ModelDeviations completed(double task, bool has_tasks, double iteration, bool has_iterations, double memory) {
  return {has_tasks ? task : iteration, has_iterations ? iteration : task, memory};
}

double with_reruns(double in_sample, std::size_t runs) {
  constexpr double kAsRuns = 3;  // what the spread of reruns counts for
  const double known = static_cast<double>(runs) * in_sample * in_sample;
  return std::sqrt((known + kAsRuns * kRerunLogDeviation * kRerunLogDeviation) /
                   (static_cast<double>(runs) + kAsRuns));
}

}  // namespace

std::vector<TaskExperience> experience_of(const PreparedRun& run) {
  std::vector<TaskExperience> all;
  for (const TaskWork& work : run.works()) all.push_back(experience_of(run, work));
  return all;
}

std::vector<TaskExperience> experience_of(const std::vector<const PreparedRun*>& runs) {
  std::vector<TaskExperience> all;
  std::set<std::string> known;
  for (const PreparedRun* run : runs) {
    for (TaskExperience& task : experience_of(*run)) {
      if (known.insert(key_of(task)).second) all.push_back(std::move(task));
    }
  }
  return all;
}

double distance_between(const TaskExperience& a, const TaskExperience& b) {
  double squares = 0;
  for (const Feature& feature : kFeatures) {
    const double steps = (log_of(a.*feature.member) - log_of(b.*feature.member)) / std::log(feature.step);
    squares += steps * steps;
  }
  if (a.device_types != b.device_types) squares += kOtherDevice * kOtherDevice;
  const int others = (a.framework != b.framework ? 1 : 0) + (a.precision != b.precision ? 1 : 0) +
                     (a.experts != b.experts ? 1 : 0) +
                     (a.tensor_parallel_between_nodes != b.tensor_parallel_between_nodes ? 1 : 0);
  return std::sqrt(squares + others * kOtherKind * kOtherKind);
}

double steps_outside(const TaskExperience& asked, const std::vector<TaskExperience>& seen) {
  const std::vector<const TaskExperience*> same_kind = of_kind(asked.kind, seen);
  if (same_kind.empty()) return kFarDistance;
  double squares = 0;
  for (const Feature& feature : kFeatures) {
    const double steps = steps_beyond(asked.*feature.member, range_of(feature, same_kind), feature);
    squares += steps * steps;
  }
  return std::sqrt(squares);
}

double distance_to_nearest(const TaskExperience& asked, const std::vector<TaskExperience>& seen) {
  double nearest = std::numeric_limits<double>::infinity();
  for (const TaskExperience* task : of_kind(asked.kind, seen))
    nearest = std::min(nearest, distance_between(asked, *task));
  return nearest;
}

Familiarity familiarity_of(const TaskExperience& asked, const std::vector<TaskExperience>& seen) {
  const std::vector<const TaskExperience*> same_kind = of_kind(asked.kind, seen);
  Familiarity out;
  if (same_kind.empty()) {
    out.reasons.push_back("no " + std::string(name_of(asked.kind)) + " was calibrated");
    return out;
  }
  const TaskExperience* nearest = nullptr;
  for (const TaskExperience* task : same_kind) {
    const double distance = distance_between(asked, *task);
    if (nearest == nullptr || distance < out.distance) {
      nearest = task;
      out.distance = distance;
    }
  }
  out.nearest_run = nearest->run;
  add_new_kinds(asked, same_kind, out.reasons);
  add_out_of_range(asked, same_kind, out.reasons);
  if (out.reasons.empty() && out.distance > kFarDistance) {
    out.reasons.push_back("the nearest calibrated run is " + format_number(out.distance) + " steps away");
  }
  return out;
}

ModelDeviations deviations_near(const FitSummary& fit) {
  if (fit.held_out) {
    const HeldOutSummary& held_out = *fit.held_out;
    return completed(held_out.task_log_deviation, held_out.tasks > 0, held_out.iteration_log_deviation,
                     held_out.iterations > 0, held_out.memories > 0 ? held_out.memory_log_deviation : 0.0);
  }
  ModelDeviations near =
      completed(fit.task_log_deviation, fit.task_log_deviation > 0, fit.iteration_log_deviation,
                fit.iteration_log_deviation > 0, fit.memory_log_deviation);
  near.task = with_reruns(near.task, fit.runs.size());
  near.iteration = with_reruns(near.iteration, fit.runs.size());
  return near;
}

ModelDeviations deviations_at(const FitSummary& fit, double distance) {
  ModelDeviations at = deviations_near(fit);
  if (!fit.started_from) return at;
  const double share = -std::expm1(-distance * distance);
  const auto add = [share](double& near, double before) {
    near = std::sqrt(near * near + share * before * before);
  };
  add(at.task, fit.started_from->task);
  add(at.iteration, fit.started_from->iteration);
  add(at.memory, fit.started_from->memory);
  return at;
}

ModelDeviations deviations_far(const FitSummary& fit) {
  return deviations_at(fit, std::numeric_limits<double>::infinity());
}

}  // namespace sextant::inline calibrate
