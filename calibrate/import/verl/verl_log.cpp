#include "calibrate/import/verl/verl_log.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "calibrate/import/records/python_literal.h"
#include "core/csv.h"
#include "core/json_value.h"
#include "sextant/error.h"

namespace sextant {
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

std::vector<std::string> plain_lines(std::string_view text) {
  std::vector<std::string> lines(1);
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t colour = colour_length(text.substr(at)); colour > 0) {
      at += colour;
    } else if (const std::size_t prefix = prefix_length(text.substr(at)); prefix > 0) {
      lines.emplace_back(1, kProcess);
      at += prefix;
    } else if (text[at] == '\n' || text[at] == '\r') {
      lines.emplace_back();
      ++at;
    } else {
      lines.back() += text[at++];
    }
  }
  return lines;
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
void take_metric(std::string_view item, std::map<std::string, double>& metrics) {
  item = item.substr(0, item.find_first_of(" \t"));
  const std::size_t colon = item.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return;
  if (const std::optional<double> value = leading_number(item.substr(colon + 1))) {
    metrics[std::string(item.substr(0, colon))] = *value;
  }
}

// The positions of the next " - key" and of its key.
std::pair<std::size_t, std::size_t> next_separator(std::string_view text) {
  for (std::size_t at = text.find(" -"); at != std::string_view::npos; at = text.find(" -", at + 1)) {
    const std::size_t key = text.find_first_not_of(' ', at + 2);
    if (key != std::string_view::npos && is_letter(text[key])) return {at, key};
  }
  return {std::string_view::npos, std::string_view::npos};
}

void take_metrics(std::string_view text, std::map<std::string, double>& metrics) {
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
bool continues(const Block& block, const std::string& line) {
  constexpr std::size_t kNarrowest = 80;
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == std::string::npos || line.front() == kProcess) return false;
  if (line.find("%|") != std::string::npos) return false;  // a progress bar
  return line[first] == '-' || block.width >= kNarrowest;
}

void append(const std::string& line, Block& block) {
  const bool is_separator = line.size() > 1 && line[0] == '-' && !is_digit(line[1]);  // not "1e" and "-05"
  if (is_separator) block.text += ' ';
  block.text += line;
  block.width = line.size();
}

void take_block(const std::optional<Block>& block, StepsByNumber& steps) {
  if (!block) return;
  std::map<std::string, double> metrics;
  take_metrics(block->text, metrics);
  if (!metrics.empty()) steps.add(block->step, metrics);
}

void read_steps(const std::vector<std::string>& lines, VerlLog& log) {
  StepsByNumber steps;
  std::optional<Block> block;
  for (const std::string& line : lines) {
    if (std::optional<Block> next = find_block(line)) {
      take_block(block, steps);
      block = std::move(next);
    } else if (block && continues(*block, line)) {
      append(line, *block);
    } else {
      take_block(block, steps);
      block.reset();
    }
  }
  take_block(block, steps);
  steps.finish(log);
}

// ---- configuration ----

// Rows of a pretty-printed dictionary; other processes write between them.
bool is_dictionary_row(std::string_view row) {
  constexpr std::string_view kStarts = "'\"{}[]-0123456789";
  return !row.empty() && (kStarts.find(row.front()) != std::string_view::npos || row.starts_with("True") ||
                          row.starts_with("False") || row.starts_with("None"));
}

std::string dictionary_from(const std::vector<std::string>& lines, std::size_t first, std::size_t column) {
  constexpr std::size_t kMaxRows = 4000;
  std::string text = lines[first].substr(column);
  for (std::size_t i = first + 1; i < lines.size() && i < first + kMaxRows; ++i) {
    const std::size_t from = lines[i].find_first_not_of(" \t\x01");
    if (from == std::string::npos) continue;
    const std::string_view row = std::string_view(lines[i]).substr(from);
    if (is_dictionary_row(row)) text.append("\n").append(row);
  }
  return text;
}

void read_config(const std::vector<std::string>& lines, VerlLog& log) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t column = lines[i].find("{'actor_rollout_ref'");
    if (column == std::string::npos) continue;
    const std::optional<Json> config = parse_python_literal(dictionary_from(lines, i, column));
    if (!config) continue;
    log.config.clear();  // of a restart
    flatten_config(*config, "", log.config);
  }
}

// ---- JSONL ----

// Python writes NaN and Infinity, which JSON does not have.
std::string without_nan(std::string line) {
  for (const std::string_view word : {"-Infinity", "Infinity", "NaN"}) {
    for (std::size_t at = line.find(word); at != std::string::npos; at = line.find(word, at)) {
      line.replace(at, word.size(), "null");
    }
  }
  return line;
}

// The result is empty for a line that was cut off.
std::optional<Json> parse_line(const std::string& line) {
  try {
    return parse_json(without_nan(line));
  } catch (const Error&) {
    return std::nullopt;
  }
}

// The number of the line's step, and the object that holds its values.
void take_line(const Json& line, StepsByNumber& steps) {
  constexpr int kMaximum = 1'000'000'000;
  if (!line.is_object()) return;
  for (const char* key : {"step", "_step", "global_step"}) {
    if (!line.contains(key)) continue;
    const Json& number = line[key];
    if (!number.is_number_integer() || number < 0 || number > kMaximum) return;
    const bool is_nested = line.contains("data");
    if (is_nested && !line["data"].is_object()) return;
    std::map<std::string, double> metrics;
    const Json& data = is_nested ? line["data"] : line;
    for (const auto& [name, value] : data.items()) {
      if (value.is_number() && std::isfinite(value.get<double>()) && (is_nested || name != key))
        metrics[name] = value.get<double>();
    }
    if (!metrics.empty()) steps.add(number.get<int>(), metrics);
    return;
  }
}

}  // namespace

void StepsByNumber::add(int number, const std::map<std::string, double>& metrics) {
  const bool is_first = by_number_.empty() || number < last_;
  if (!by_number_.empty() && number < last_) ++restarts_;
  VerlStep& step = by_number_[number];
  step.number = number;
  step.is_first_of_process = step.is_first_of_process || is_first;
  for (const auto& [key, value] : metrics) step.metrics[key] = value;
  last_ = number;
}

void StepsByNumber::finish(VerlLog& log) {
  for (auto& [number, step] : by_number_) log.steps.push_back(std::move(step));
  log.restarts = restarts_;
}

VerlLog parse_metric_table(std::string_view text, std::vector<std::string>& other_runs) {
  const CsvTable table = parse_csv(std::string(text), "table");
  StepsByNumber steps;
  std::optional<std::string> run;
  std::vector<std::pair<std::size_t, std::string>> metrics;  // position and name
  std::optional<std::size_t> number_at;
  for (std::size_t i = 0; i < table.columns().size(); ++i) {
    const std::string& column = table.columns()[i];
    if (column == "Step" || column == "step" || column == "_step" || column == "global_step") {
      number_at = i;
      continue;
    }
    const std::size_t dash = column.rfind(" - ");
    const std::string of = dash == std::string::npos ? "" : column.substr(0, dash);
    const std::string metric = dash == std::string::npos ? column : column.substr(dash + 3);
    if (metric.ends_with("__MIN") || metric.ends_with("__MAX")) continue;  // of wandb's smoothing
    if (!run) run = of;
    if (of == *run) {
      metrics.emplace_back(i, metric);
    } else if (std::find(other_runs.begin(), other_runs.end(), of) == other_runs.end()) {
      other_runs.push_back(of);
    }
  }
  VerlLog log;
  if (!number_at) return log;
  for (const CsvRow& row : table.rows()) {
    const std::optional<double> number = leading_number(row.cells()[*number_at]);
    if (!number || *number < 0 || *number > 1e9) continue;
    std::map<std::string, double> values;
    for (const auto& [position, metric] : metrics) {
      if (const std::optional<double> value = leading_number(row.cells()[position])) values[metric] = *value;
    }
    if (!values.empty()) steps.add(static_cast<int>(*number), values);
  }
  steps.finish(log);
  return log;
}

VerlLog parse_verl_console(std::string_view text) {
  const std::vector<std::string> lines = plain_lines(text);
  VerlLog log;
  read_steps(lines, log);
  read_config(lines, log);
  return log;
}

VerlLog parse_verl_jsonl(std::string_view text) {
  StepsByNumber steps;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    if (const auto line = parse_line(std::string(text.substr(from, end - from)))) take_line(*line, steps);
    from = end + 1;
  }
  VerlLog log;
  steps.finish(log);
  return log;
}

void flatten_config(const Json& value, const std::string& name, std::map<std::string, Json>& out) {
  if (!value.is_object()) {
    out[name] = value;
    return;
  }
  for (const auto& [key, member] : value.items())
    flatten_config(member, name.empty() ? key : name + "." + key, out);
}

}  // namespace sextant
