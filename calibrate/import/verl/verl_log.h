// The content of a verl log: metrics by step, and the configuration that it prints at start.
//
// Console logs come with colours, Ray's prefixes, progress bars, hard wraps, other processes' lines in the
// middle of a line, and restarts. A step may have several lines; the later one wins, key by key. Reading never
// fails: text that is not a metric is ignored. Logs come line by line, because they may be larger than the memory.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/import/verl/metrics.h"
#include "core/json_value.h"

namespace sextant::inline calibrate {

struct VerlStep {
  int number = 0;
  bool is_first_of_process = false;  // the first of the log, or after a restart
  Metrics metrics;                   // finite values only

  [[nodiscard]] bool has(std::string_view key) const { return metrics.contains(key); }
  [[nodiscard]] double at(std::string_view key) const { return metrics.at(key); }
};

struct VerlLog {
  std::vector<VerlStep> steps;         // ascending, each once
  std::map<std::string, Json> config;  // the resolved configuration by dotted name; empty: not printed
  int restarts = 0;                    // how often the step number went back
};

// Steps in the order of their numbers. Later values of a step win. A step that is smaller than the one before begins another
// process if it repeats values; otherwise another part of an asynchronous program speaks of it.
class StepsByNumber {
 public:
  void add(int number, const Metrics& metrics);
  void finish(VerlLog& log);

 private:
  std::map<int, VerlStep> by_number_;
  int last_ = 0;
  int restarts_ = 0;
};

// Reads a log of one form.
class LogReader {
 public:
  LogReader() = default;
  LogReader(const LogReader&) = delete;
  LogReader& operator=(const LogReader&) = delete;
  virtual ~LogReader() = default;

  virtual void take_line(std::string_view line) = 0;  // without what ends it
  [[nodiscard]] virtual VerlLog finish() = 0;         // once, after the last line
};

// `step:N - key:value - key:value ...`
[[nodiscard]] std::unique_ptr<LogReader> verl_console_reader();
// One line per step: {"step": 1, "data": {"timing_s/gen": 16.2}}, or with the values beside "step", "_step" (wandb)
// or "global_step".
[[nodiscard]] std::unique_ptr<LogReader> metric_lines_reader();

// Reads all lines of a text.
[[nodiscard]] VerlLog parse_log(std::string_view text, std::unique_ptr<LogReader> reader);
[[nodiscard]] inline VerlLog parse_verl_console(std::string_view text) {
  return parse_log(text, verl_console_reader());
}
[[nodiscard]] inline VerlLog parse_verl_jsonl(std::string_view text) {
  return parse_log(text, metric_lines_reader());
}

// Tables that wandb exports, often one for each metric: "Step", and a column "RUN - METRIC" for each run and metric.
class MetricTables {
 public:
  // Throws Error(bad_input) if the text is no CSV.
  void add(std::string_view text);
  [[nodiscard]] VerlLog finish();  // once
  // Runs whose columns were not read, because only those of the first run count.
  [[nodiscard]] const std::vector<std::string>& other_runs() const { return other_runs_; }

 private:
  StepsByNumber steps_;
  std::optional<std::string> run_;
  std::vector<std::string> other_runs_;
};

// Flattens nested members to dotted names: {"a": {"b": 1}} is {"a.b": 1}.
void flatten_config(const Json& value, const std::string& name, std::map<std::string, Json>& out);

}  // namespace sextant::inline calibrate
