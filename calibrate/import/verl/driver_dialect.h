// Logs of other frameworks' drivers, told in verl's words: the names of their times and options by table, so that one
// reader makes runs of all of them.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "calibrate/import/verl/verl_log.h"

namespace sextant::inline calibrate {

using RenamedKey = std::pair<std::string_view, std::string_view>;  // the framework's name, and verl's

struct DriverDialect {
  std::string_view name;  // "slime", also the framework of its runs
  std::span<const RenamedKey> metrics;
  std::map<std::string, std::string> timers;  // the timer of a run by verl's name of a phase
  std::vector<std::string_view> step;         // times whose sum is the iteration; the first must be there
  bool step_is_of_the_one_before = false;     // a line's first of `step` is the time of the step before it
  std::span<const RenamedKey> options;
  void (*derive)(std::map<std::string, Json>& config);  // options that follow from others
  bool is_asynchronous = false;                         // always: the timer of generation is a wait
  bool may_lack_phases = false;                         // its console has the times of whole steps alone
  // Times in that of the step which are no part of an iteration: validation and checkpoints.
  std::vector<std::string_view> beside = {};
  bool times_generation = false;  // of asynchronous training too: its timer of generation is no wait
};

[[nodiscard]] std::span<const DriverDialect> driver_dialects();

// Renames metrics, and adds the time of the iteration. `prompt_tokens`: the mean of steps that have none.
void translate_steps(const DriverDialect& dialect, VerlLog& log, std::optional<double> prompt_tokens = {});
// Renames options; those that have verl's names stay.
void translate_options(const DriverDialect& dialect, std::map<std::string, Json>& config);

// A step of prime-rl's console: "Step 3 |   5.2s | Loss ..." or, until 0.5, "Step 3 | Time: 5.23s | Reward: ...".
struct StepLine {
  int number = 0;
  double step_s = 0;
  std::optional<double> sample_tokens;  // the orchestrator's mean of prompt and response, until 0.5
};
[[nodiscard]] std::optional<StepLine> step_in_line(std::string_view line);

// Steps of console logs: Python dictionaries or JSON with a number before them ("perf 1: {...}") or inside, and blocks of
// "name: 58.1s" below "Step 2/100". Reading never fails.
[[nodiscard]] std::unique_ptr<LogReader> driver_console_reader();
[[nodiscard]] inline VerlLog parse_driver_console(std::string_view text) {
  return parse_log(text, driver_console_reader());
}

}  // namespace sextant::inline calibrate
