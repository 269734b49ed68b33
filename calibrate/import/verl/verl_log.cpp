#include "calibrate/import/verl/verl_log.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "calibrate/import/records/json_line.h"
#include "calibrate/import/records/python_literal.h"
#include "core/csv.h"
#include "core/json_value.h"
#include "core/text_lines.h"

namespace sextant::inline calibrate {
namespace {

constexpr char kProcess = '\x01';  // begins a line of a process, in the text without what surrounds it

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// ---- colours, prefixes, carriage returns ----

// Characters of a colour sequence that begins here; 0: none does. The escape byte may have been lost.
std::size_t colour_length(std::string_view text) {
  constexpr char kEscape = '\x1b';
  const bool is_escaped = text.starts_with(kEscape);
  std::size_t at = is_escaped ? 1 : 0;
  if (at >= text.size() || text[at] != '[') return is_escaped ? 1 : 0;
  constexpr std::size_t kLongest = 16;
  const std::size_t from = ++at;
  while (at < text.size() && at < from + kLongest && (is_digit(text[at]) || text[at] == ';')) ++at;
  const bool closes = at < text.size() && (is_escaped ? is_letter(text[at]) : text[at] == 'm' && at > from);
  return closes ? at + 1 : (is_escaped ? 1 : 0);
}

// Characters of a Ray prefix that begins here, "(TaskRunner pid=7, ip=10.0.0.1) "; 0: none does.
std::size_t prefix_length(std::string_view text) {
  if (!text.starts_with('(')) return 0;
  constexpr std::size_t kLongest = 120;
  const std::string_view start = text.substr(0, kLongest);
  const std::size_t close = start.find(')');
  const std::size_t pid = start.find(" pid=");
  if (close == std::string_view::npos || pid == std::string_view::npos || pid > close) return 0;
  return close + 1 < text.size() && text[close + 1] == ' ' ? close + 2 : close + 1;
}

// True for characters with which a colour or a prefix may begin.
constexpr bool may_begin_decoration(char c) { return c == '\x1b' || c == '[' || c == '('; }

// Calls take(piece) for the parts of a line without colours and prefixes: a prefix begins another process's part.
template <typename Take>
void for_each_piece(std::string_view line, std::string& buffer, Take take) {
  if (std::none_of(line.begin(), line.end(), may_begin_decoration)) return take(line);
  buffer.clear();
  for (std::size_t at = 0; at < line.size();) {
    const std::string_view rest = line.substr(at);
    const auto plain =
        static_cast<std::size_t>(std::find_if(rest.begin(), rest.end(), may_begin_decoration) - rest.begin());
    buffer.append(rest.substr(0, plain));
    at += plain;
    if (at == line.size()) break;
    if (const std::size_t colour = colour_length(line.substr(at)); colour > 0) {
      at += colour;
    } else if (const std::size_t prefix = prefix_length(line.substr(at)); prefix > 0) {
      take(std::string_view(buffer));
      buffer.assign(1, kProcess);
      at += prefix;
    } else {
      buffer += line[at++];
    }
  }
  take(std::string_view(buffer));
}

// ---- metrics ----

// The number at the beginning, through np.float64(...) and tensor(...); nothing for None, True, nan and inf.
std::optional<double> leading_number(std::string_view text) {
  if (const std::size_t open = text.find('('); open != std::string_view::npos) text.remove_prefix(open + 1);
  double value = 0;
  const auto [last, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || last == text.data() || !std::isfinite(value)) return std::nullopt;
  return value;
}

// "key:value", and what another program may have written behind it.
void take_metric(std::string_view item, MetricLine& metrics) {
  item = item.substr(0, std::min(item.find(' '), item.find('\t')));
  const std::size_t colon = item.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return;
  if (const std::optional<double> value = leading_number(item.substr(colon + 1)))
    metrics.take(item.substr(0, colon), *value);
}

// The positions of the next " - key" and of its key.
std::pair<std::size_t, std::size_t> next_separator(std::string_view text) {
  for (std::size_t at = text.find(" -"); at != std::string_view::npos; at = text.find(" -", at + 1)) {
    const std::size_t key = text.find_first_not_of(' ', at + 2);
    if (key != std::string_view::npos && is_letter(text[key])) return {at, key};
  }
  return {std::string_view::npos, std::string_view::npos};
}

void take_metrics(std::string_view text, MetricLine& metrics) {
  while (true) {
    const auto [end, next] = next_separator(text);
    take_metric(text.substr(0, end), metrics);
    if (end == std::string_view::npos) return;
    text.remove_prefix(next);
  }
}

// ---- steps ----

struct Block {
  int step = 0;
  std::string text;       // behind "step:N"
  std::size_t width = 0;  // of its last line
};

// "step:12 - " that is no part of another key.
std::optional<Block> find_block(std::string_view line) {
  constexpr std::string_view kWord = "step:";
  for (std::size_t at = line.find(kWord); at != std::string_view::npos; at = line.find(kWord, at + 1)) {
    if (at > 0 && (is_letter(line[at - 1]) || is_digit(line[at - 1]) || line[at - 1] == '/')) continue;
    const std::string_view rest = line.substr(at + kWord.size());
    int number = 0;
    const auto [last, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    const std::string_view behind = rest.substr(static_cast<std::size_t>(last - rest.data()));
    const bool ends = behind.empty() || behind.starts_with(" -");
    if (error == std::errc() && number >= 0 && ends) return Block{number, std::string(behind), line.size()};
  }
  return std::nullopt;
}

// Terminals break lines at 80 columns and more; people put each key on a line of its own.
bool continues(const Block& block, std::string_view line) {
  constexpr std::size_t kNarrowest = 80;
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos || line.front() == kProcess) return false;
  if (line.find("%|") != std::string_view::npos) return false;  // a progress bar
  return line[first] == '-' || block.width >= kNarrowest;
}

void append(std::string_view line, Block& block) {
  const bool is_separator = line.size() > 1 && line[0] == '-' && !is_digit(line[1]);  // not "1e" and "-05"
  if (is_separator) block.text += ' ';
  block.text += line;
  block.width = line.size();
}

class StepLines {
 public:
  void take(std::string_view line) {
    if (std::optional<Block> next = find_block(line)) {
      end_block();
      block_ = std::move(next);
    } else if (block_ && block_->text.size() < kMaxBlock && continues(*block_, line)) {
      append(line, *block_);
    } else {
      end_block();
    }
  }

  void finish(VerlLog& log) {
    end_block();
    steps_.finish(log);
  }

 private:
  static constexpr std::size_t kMaxBlock = 1'000'000;

  void end_block() {
    if (!block_) return;
    metrics_.begin();
    take_metrics(block_->text, metrics_);
    if (!metrics_.metrics().empty()) steps_.add(block_->step, metrics_.metrics());
    block_.reset();
  }

  StepsByNumber steps_;
  MetricLine metrics_;
  std::optional<Block> block_;
};

// ---- configuration ----

// Rows of a pretty-printed dictionary; other processes write between them.
bool is_dictionary_row(std::string_view row) {
  constexpr std::string_view kStarts = "'\"{}[]-0123456789";
  return !row.empty() && (kStarts.find(row.front()) != std::string_view::npos || row.starts_with("True") ||
                          row.starts_with("False") || row.starts_with("None"));
}

// The configuration that a run prints when it starts; of several, after restarts, the last one.
class ConfigLines {
 public:
  void take(std::string_view line) {
    for (Rows& open : open_) {
      const std::size_t from = line.find_first_not_of(" \t\x01");
      if (from == std::string_view::npos || !is_dictionary_row(line.substr(from))) continue;
      open.text.append("\n").append(line.substr(from));
    }
    for (Rows& open : open_) ++open.lines;
    if (!open_.empty() && open_.front().lines >= kMaxLines) close_first();
    const std::size_t column = line.find(kBeginning);
    if (column == std::string_view::npos) return;
    constexpr std::size_t kMaxOpen = 8;
    if (open_.size() == kMaxOpen) close_first();
    open_.push_back({std::string(line.substr(column)), 1});
  }

  void finish(VerlLog& log) {
    while (!open_.empty()) close_first();
    log.config = std::move(config_);
  }

 private:
  static constexpr std::string_view kBeginning = "{'actor_rollout_ref'";
  static constexpr int kMaxLines = 4000;

  struct Rows {
    std::string text;
    int lines = 0;
  };

  void close_first() {
    if (const std::optional<Json> config = parse_python_literal(open_.front().text)) {
      config_.clear();  // of a restart
      flatten_config(*config, "", config_);
    }
    open_.erase(open_.begin());
  }

  std::vector<Rows> open_;
  std::map<std::string, Json> config_;
};

class VerlConsole final : public LogReader {
 public:
  void take_line(std::string_view line) override {
    for_each_piece(line, buffer_, [this](std::string_view piece) {
      steps_.take(piece);
      config_.take(piece);
    });
  }

  [[nodiscard]] VerlLog finish() override {
    VerlLog log;
    steps_.finish(log);
    config_.finish(log);
    return log;
  }

 private:
  StepLines steps_;
  ConfigLines config_;
  std::string buffer_;
};

// ---- JSONL ----

// The step of slime's values in wandb, whose own steps are those of calls.
constexpr std::string_view kRolloutStep = "rollout/step";

// The number of the line's step, and the values beside it or in its "data".
class MetricLines final : public LogReader {
 public:
  void take_line(std::string_view line) override {
    if (!line_.read(line)) return;
    constexpr double kMaximum = 1'000'000'000;
    has_rollout_steps_ = has_rollout_steps_ || line_.find(kRolloutStep) != nullptr;
    for (const std::string_view key :
         std::initializer_list<std::string_view>{kRolloutStep, "step", "_step", "global_step"}) {
      const JsonLineMember* const number = line_.find(key);
      if (number == nullptr) continue;
      if (has_rollout_steps_ && key != kRolloutStep) return;
      if (!number->is_integer || number->number < 0 || number->number > kMaximum) return;
      const JsonLineMember* const data = line_.find("data");
      if (data != nullptr && !data->is_object) return;
      metrics_.begin();
      for (const JsonLineMember& member : data != nullptr ? line_.nested() : line_.members()) {
        if (member.is_number && (data != nullptr || member.name != key))
          metrics_.take(member.name, member.number);
      }
      if (!metrics_.metrics().empty()) steps_.add(static_cast<int>(number->number), metrics_.metrics());
      return;
    }
  }

  [[nodiscard]] VerlLog finish() override {
    VerlLog log;
    steps_.finish(log);
    return log;
  }

 private:
  JsonLine line_{"data"};
  bool has_rollout_steps_ = false;
  MetricLine metrics_;
  StepsByNumber steps_;
};

}  // namespace

void StepsByNumber::add(int number, const Metrics& metrics) {
  const auto known = by_number_.find(number);
  const bool repeats = known == by_number_.end() ||
                       std::any_of(metrics.begin(), metrics.end(),
                                   [&](const auto& metric) { return known->second.has(metric.first); });
  const bool is_restart = !by_number_.empty() && number < last_ && repeats;
  const bool is_first = by_number_.empty() || is_restart;
  if (is_restart) ++restarts_;
  VerlStep& step = by_number_[number];
  step.number = number;
  step.is_first_of_process = step.is_first_of_process || is_first;
  step.metrics.merge(metrics);
  last_ = is_restart ? number : std::max(last_, number);
}

void StepsByNumber::finish(VerlLog& log) {
  for (auto& [number, step] : by_number_) log.steps.push_back(std::move(step));
  log.restarts = restarts_;
}

void MetricTables::add(std::string_view text) {
  const CsvTable table = parse_csv(std::string(text), "table");
  std::vector<std::pair<std::size_t, std::string>> metrics;  // position and name
  std::optional<std::size_t> number_at, rollout_step_at;
  for (std::size_t i = 0; i < table.columns().size(); ++i) {
    const std::string& column = table.columns()[i];
    if (column == "Step" || column == "step" || column == "_step" || column == "global_step") {
      if (!number_at) number_at = i;
      continue;
    }
    if (column == kRolloutStep || column.ends_with(" - rollout/step")) rollout_step_at = i;
    const std::size_t dash = column.rfind(" - ");
    const std::string of = dash == std::string::npos ? "" : column.substr(0, dash);
    const std::string metric = dash == std::string::npos ? column : column.substr(dash + 3);
    if (metric.ends_with("__MIN") || metric.ends_with("__MAX")) continue;  // of wandb's smoothing
    if (!run_) run_ = of;
    if (of == *run_) {
      metrics.emplace_back(i, metric);
    } else if (std::find(other_runs_.begin(), other_runs_.end(), of) == other_runs_.end()) {
      other_runs_.push_back(of);
    }
  }
  if (rollout_step_at) number_at = rollout_step_at;
  if (!number_at) return;
  for (const CsvRow& row : table.rows()) {
    const std::optional<double> number = leading_number(row.cells()[*number_at]);
    if (!number || *number < 0 || *number > 1e9) continue;
    Metrics values;
    for (const auto& [position, metric] : metrics) {
      if (const std::optional<double> value = leading_number(row.cells()[position])) values.set(metric, *value);
    }
    if (!values.empty()) steps_.add(static_cast<int>(*number), values);
  }
}

VerlLog MetricTables::finish() {
  VerlLog log;
  steps_.finish(log);
  return log;
}

std::unique_ptr<LogReader> verl_console_reader() { return std::make_unique<VerlConsole>(); }

std::unique_ptr<LogReader> metric_lines_reader() { return std::make_unique<MetricLines>(); }

VerlLog parse_log(std::string_view text, std::unique_ptr<LogReader> reader) {
  for_each_line(text, [&reader](std::string_view line) { reader->take_line(line); });
  return reader->finish();
}

void flatten_config(const Json& value, const std::string& name, std::map<std::string, Json>& out) {
  if (!value.is_object()) {
    out[name] = value;
    return;
  }
  for (const auto& [key, member] : value.items())
    flatten_config(member, name.empty() ? key : name + "." + key, out);
}

}  // namespace sextant::inline calibrate
