#include "calibrate/import/verl/step_bands.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>
#include <utility>

#include "calibrate/import/records/measured_iteration.h"
#include "calibrate/import/verl/verl_timers.h"
#include "sextant/statistics.h"

namespace sextant::inline calibrate {
namespace {

using namespace verl_timers;

constexpr double kWidestBand = 1.2;
constexpr std::size_t kFewSteps = 3;

using Steps = std::vector<const VerlStep*>;

// Groups of steps by mean response length, shortest first; none is empty.
std::vector<Steps> groups_of(const Steps& steps) {
  const auto by_length = [](const VerlStep* a, const VerlStep* b) {
    return a->at(kResponseMean) < b->at(kResponseMean);
  };
  const auto [shortest, longest] = std::minmax_element(steps.begin(), steps.end(), by_length);
  const double low = std::log((*shortest)->at(kResponseMean));
  const double range = std::log((*longest)->at(kResponseMean)) - low;
  const auto count = static_cast<std::size_t>(std::clamp(std::ceil(range / std::log(kWidestBand)), 1.0, 64.0));
  std::vector<Steps> groups(count);
  for (const VerlStep* step : steps) {
    const double place = range > 0 ? (std::log(step->at(kResponseMean)) - low) / range : 0.0;
    const auto group = static_cast<std::size_t>(place * static_cast<double>(count));
    groups[std::min(group, count - 1)].push_back(step);
  }
  std::erase_if(groups, [](const Steps& group) { return group.empty(); });
  return groups;
}

std::vector<double> values_of(const Steps& steps, const std::string& key) {
  std::vector<double> values;
  for (const VerlStep* step : steps) {
    if (step->has(key)) values.push_back(step->at(key));
  }
  return values;
}

std::optional<double> mean_of(const Steps& steps, const std::string& key) {
  const std::vector<double> values = values_of(steps, key);
  return values.empty() ? std::nullopt : std::optional(mean(values));
}

// Timers by phase, of the framework that wrote the log.
std::map<std::string, std::string> named_timers(const Steps& steps, const DriverDialect* dialect) {
  return dialect == nullptr ? timers_of(steps) : dialect->timers;
}

// Whether steps without times of generation and training are no samples.
template <typename AnySteps, typename ToStep>
bool needs_parts(const AnySteps& steps, const DriverDialect* dialect, ToStep to_step) {
  if (!times_parts(dialect)) return false;
  return dialect == nullptr || !dialect->may_lack_phases ||
         std::any_of(steps.begin(), steps.end(),
                     [&](const auto& step) { return to_step(step).has(kSeconds + "update_actor"); });
}

bool needs_parts(const Steps& steps, const DriverDialect* dialect) {
  return needs_parts(steps, dialect, [](const VerlStep* step) -> const VerlStep& { return *step; });
}

bool needs_parts(const VerlLog& log, const DriverDialect* dialect) {
  return needs_parts(log.steps, dialect, [](const VerlStep& step) -> const VerlStep& { return step; });
}

// Phases miss the step by less than this where its contents are understood.
constexpr double kTolerance = 0.03;

void note_phases(const Steps& steps, const DriverDialect* dialect, LogBand& band) {
  std::set<std::string> others;
  int missed = 0;
  const std::map<std::string, std::string> timers = named_timers(steps, dialect);
  for (const VerlStep* step : steps) {
    if (std::abs(iteration_s(*step) - phases_s(*step)) > kTolerance * iteration_s(*step)) ++missed;
    for (const auto& [key, value] : step->metrics) {
      const std::string phase(key.starts_with(kSeconds) ? key.substr(kSeconds.size()) : "");
      if (!phase.empty() && is_phase(phase) && !timers.contains(phase)) others.insert(phase);
    }
  }
  for (const std::string& phase : others) {
    const double typical_s = median(values_of(steps, kSeconds + phase));
    add_note(band.notes, "other times", phase + " " + Json(typical_s).dump() + " s.");
  }
  if (missed > 0 && needs_parts(steps, dialect)) {
    add_note(band.notes, "warnings",
             "The phases of " + std::to_string(missed) + " of " + std::to_string(steps.size()) +
                 " steps miss the step by more than 3 %.");
  }
}

void set_times(const Steps& steps, const DriverDialect* dialect, LogBand& band) {
  for (const VerlStep* step : steps) band.iteration_s.push_back(iteration_s(*step));
  for (const auto& [phase, timer] : named_timers(steps, dialect)) {
    std::vector<double> samples = values_of(steps, kSeconds + phase);
    std::erase_if(samples, [](double sample) { return !(sample > 0); });
    if (!samples.empty()) band.timers[timer] = std::move(samples);
  }
  band.reward_s = std::max(0.0, mean_of(steps, kSeconds + "reward").value_or(0));
}

std::string length_range(const Steps& steps) {
  const std::vector<double> lengths = values_of(steps, kResponseMean);
  const auto [low, high] = std::minmax_element(lengths.begin(), lengths.end());
  return std::to_string(std::lround(*low)) + " to " + std::to_string(std::lround(*high)) + " tokens";
}

LogBand band_of(const VerlSource& source, const Steps& steps, const DriverDialect* dialect) {
  LogBand band;
  band.lengths = {*mean_of(steps, kResponseMean), mean_of(steps, "response_length/max"),
                  mean_of(steps, "prompt_length/mean")};
  band.notes = source.notes;
  band.notes["steps"] = std::to_string(steps.size()) + " with mean responses of " + length_range(steps) + ".";
  if (source.log.restarts > 0) band.notes["restarts"] = std::to_string(source.log.restarts);
  set_times(steps, dialect, band);
  band.times_generation = dialect != nullptr && dialect->times_generation;
  note_phases(steps, dialect, band);
  return band;
}

}  // namespace

bool times_parts(const DriverDialect* dialect) { return dialect == nullptr || !dialect->timers.empty(); }

std::vector<const VerlStep*> usable_steps(const VerlLog& log, const DriverDialect* dialect) {
  Steps usable, first;  // first: of each process, the first of its usable steps, which warms up
  const bool all_parts = needs_parts(log, dialect);
  bool is_new = false;
  for (const VerlStep& step : log.steps) {
    is_new = is_new || step.is_first_of_process;  // a validation before training has no times
    const auto is_positive = [&step](const std::string& key) { return step.has(key) && step.at(key) > 0; };
    const bool has_parts = is_positive(kSeconds + "gen") && is_positive(kSeconds + "update_actor");
    if (is_positive(kResponseMean) && is_positive(kSeconds + "step") && (has_parts || !all_parts) &&
        iteration_s(step) > 0) {
      usable.push_back(&step);
      if (std::exchange(is_new, false)) first.push_back(&step);
    }
  }
  const auto warms_up = [&](const VerlStep* step) {
    return std::find(first.begin(), first.end(), step) != first.end();
  };
  if (first.size() < usable.size()) std::erase_if(usable, warms_up);
  return usable;
}

std::vector<std::string> lacking_metrics(const VerlLog& log, const DriverDialect* dialect) {
  constexpr std::array<std::pair<const char*, const char*>, 4> kNeeded{
      {{kResponseMean, "the mean response length"},
       {"timing_s/step", "the time of the whole step"},
       {"timing_s/gen", "the time of generation"},
       {"timing_s/update_actor", "the time of training"}}};
  constexpr std::size_t kOfWhole = 2;
  std::vector<std::string> lacking;
  for (const auto& [key, what] :
       std::span(kNeeded).first(needs_parts(log, dialect) ? kNeeded.size() : kOfWhole)) {
    const bool is_there = std::any_of(log.steps.begin(), log.steps.end(),
                                      [key = key](const VerlStep& step) { return step.has(key); });
    if (!is_there) lacking.emplace_back(what);
  }
  return lacking;
}

VerlTasks named_tasks(const std::vector<VerlStep>& steps, const DriverDialect* dialect) {
  VerlTasks tasks = tasks_of(steps);
  if (dialect == nullptr) return tasks;
  for (const auto& [phase, timer] : dialect->timers) {
    const std::vector<std::string> parts = parts_of_timer(timer);
    const bool has_reference =
        std::find(parts.begin(), parts.end(), task_names::kReferenceInference) != parts.end();
    const bool is_timed =
        std::any_of(steps.begin(), steps.end(),
                    [&, key = kSeconds + phase](const VerlStep& step) { return step.has(key); });
    if (has_reference && parts.size() > 1 && is_timed) tasks.has_reference = true;
  }
  return tasks;
}

StepBands step_bands(const VerlSource& source, const DriverDialect* dialect) {
  StepBands out;
  const std::vector<Steps> groups = groups_of(usable_steps(source.log, dialect));
  const bool any_has_enough =
      std::any_of(groups.begin(), groups.end(), [](const Steps& group) { return group.size() >= kFewSteps; });
  for (const Steps& group : groups) {
    const std::string name =
        groups.size() == 1 ? source.name : source.name + ", responses of " + length_range(group);
    if (any_has_enough && group.size() < kFewSteps) {
      out.left_out.push_back({name, "fewer than three steps have such responses"});
      continue;
    }
    out.bands.push_back(band_of(source, group, dialect));
    out.bands.back().name = name;
  }
  return out;
}

}  // namespace sextant::inline calibrate
