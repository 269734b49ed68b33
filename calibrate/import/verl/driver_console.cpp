#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "calibrate/import/records/python_literal.h"
#include "calibrate/import/verl/driver_dialect.h"
#include "sextant/error.h"

namespace sextant::inline calibrate {
namespace {

std::optional<double> number_in(const Json& value) {
  if (value.is_number()) {
    const double number = value.get<double>();
    return std::isfinite(number) ? std::optional(number) : std::nullopt;
  }
  if (!value.is_string()) return std::nullopt;  // newer trainers of Transformers print texts
  const std::string& text = value.get_ref<const std::string&>();
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size() && std::isfinite(number);
  return is_number ? std::optional(number) : std::nullopt;
}

// The dictionary at the brace, as Python or as JSON.
std::optional<Json> dictionary_at(std::string_view text) {
  if (std::optional<Json> python = parse_python_literal(text)) return python;
  try {
    return parse_json(text);
  } catch (const Error&) {
    return std::nullopt;
  }
}

// The whole number that ends the text: "Global step 12: ".
std::optional<int> number_before(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == ':' || text.back() == '-'))
    text.remove_suffix(1);
  std::size_t first = text.size();
  while (first > 0 && std::isdigit(static_cast<unsigned char>(text[first - 1])) != 0) --first;
  int number = 0;
  const auto [end, error] = std::from_chars(text.data() + first, text.data() + text.size(), number);
  const bool is_word = first == 0 || text[first - 1] == ' ';
  return error == std::errc() && end == text.data() + text.size() && is_word ? std::optional(number)
                                                                             : std::nullopt;
}

// Takes colours and Ray's "(Worker pid=7) " off the beginning of a line.
std::string_view without_prefix(std::string_view line) {
  while (line.starts_with("\x1b[")) line.remove_prefix(std::min(line.size(), line.find('m') + 1));
  constexpr std::size_t kLongest = 120;
  const std::size_t close = line.substr(0, kLongest).find(')');
  if (!line.starts_with('(') || close == std::string_view::npos || line.substr(0, close).find("pid=") > close)
    return line;
  line.remove_prefix(close + 1);
  return line.starts_with("\x1b[") ? without_prefix(line) : line;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// "1m 5s", "5.2s", "350ms", "Time: 5.23s".
std::optional<double> seconds_in(std::string_view text) {
  constexpr std::string_view kTime = "Time: ";
  constexpr std::array<std::pair<std::string_view, double>, 5> kUnits{
      {{"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}}};
  text = trimmed(text);
  if (text.starts_with(kTime)) text = trimmed(text.substr(kTime.size()));
  double sum = 0;
  while (!text.empty()) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || !std::isfinite(number) || number < 0) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    const std::string_view unit = text.substr(0, text.find(' '));
    const auto found =
        std::find_if(kUnits.begin(), kUnits.end(), [&](const auto& known) { return known.first == unit; });
    if (found == kUnits.end()) return std::nullopt;
    sum += number * found->second;
    text = trimmed(text.substr(unit.size()));
  }
  return sum > 0 ? std::optional(sum) : std::nullopt;
}

class DriverConsole final : public LogReader {
 public:
  void take_line(std::string_view line) override {
    if (!open_.empty()) return continue_dictionary(line);
    const std::size_t brace = line.find('{');
    if (brace != std::string_view::npos && brace + 1 < line.size() &&
        (line[brace + 1] == '\'' || line[brace + 1] == '"'))
      return take_dictionary(line.substr(0, brace), line.substr(brace));
    if (take_heading(line)) return;
    if (line.find(kCell) != std::string_view::npos) return take_cells(line);
    take_item(line);
  }

  [[nodiscard]] VerlLog finish() override {
    VerlLog log;
    steps_.finish(log);
    return log;
  }

 private:
  static constexpr std::string_view kCell = "\xe2\x94\x82";  // a vertical line of box drawing

  // "==== Step 3/100 ====" of a block, "Train step 3/1160 done" of a table, "Step 3:" of a dictionary below it.
  bool take_heading(std::string_view line) {
    if (take_epoch(line)) return true;
    if (const std::optional<StepLine> step = step_in_line(line)) {
      Metrics values{{"time/step", step->step_s}};
      if (step->sample_tokens) values.set("seq_len/all/mean", *step->sample_tokens);
      steps_.add(step->number, values);
      return true;
    }
    for (const std::string_view word : {"Train step ", "Step "}) {
      const std::size_t at = line.find(word);
      if (at == std::string_view::npos) continue;
      int number = 0;
      const std::string_view rest = line.substr(at + word.size());
      const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
      if (error != std::errc() || end == rest.data() + rest.size()) return false;
      if (*end == ':') dictionary_ = number;
      if (*end == '/' && (word == "Train step " || line.find('=') < at))
        take_block(number, std::string_view(end + 1, rest.data() + rest.size()));
      return true;
    }
    return false;
  }

  // "3/100": after the last step of an epoch its number begins again.
  void take_block(int number, std::string_view total) {
    int steps = 0;
    (void)std::from_chars(total.data(), total.data() + total.size(), steps);
    if (was_last_ && number == 1) before_epoch_ = last_block_;
    was_last_ = number == steps && steps > 1;
    block_ = before_epoch_ + number;
    last_block_ = std::max(last_block_, *block_);
  }

  // "==== Epoch 2/5 ====": NeMo RL counts the steps of each epoch from 1. A restart prints its epoch again.
  bool take_epoch(std::string_view line) {
    constexpr std::string_view kEpoch = "= Epoch ";
    const std::size_t at = line.find(kEpoch);
    if (at == std::string_view::npos) return false;
    const std::string_view rest = line.substr(at + kEpoch.size());
    int number = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (error != std::errc() || end == rest.data() + rest.size() || *end != '/') return false;
    before_epoch_ = before_epochs_.try_emplace(number, last_block_).first->second;
    return true;
  }

  void take_dictionary(std::string_view before, std::string_view text) {
    std::optional<Json> read = dictionary_at(text);
    std::optional<int> number = number_before(before);
    if (!number) number = std::exchange(dictionary_, std::nullopt);
    if (!read) {  // printed over several lines
      open_ = text;
      open_number_ = number;
      return;
    }
    take_values(*read, number);
  }

  void continue_dictionary(std::string_view line) {
    constexpr std::size_t kMaxCharacters = 200'000;
    open_ += '\n';
    open_ += without_prefix(line);
    const bool may_end = line.find('}') != std::string_view::npos;
    std::optional<Json> read = may_end ? dictionary_at(open_) : std::nullopt;
    if (!read && open_.size() < kMaxCharacters && !starts_other(line)) return;
    open_.clear();
    if (read) return take_values(*read, open_number_);
    take_line(line);
  }

  // A dictionary that another process's output cut off.
  [[nodiscard]] static bool starts_other(std::string_view line) {
    return line.find(": {'") != std::string_view::npos || line.find(": {\"") != std::string_view::npos ||
           step_in_line(line);
  }

  void take_values(const Json& read, std::optional<int> number) {
    if (!read.is_object()) return;
    if (read.contains("message") && read["message"].is_string()) {  // a console that writes lines of JSON
      static_cast<void>(take_heading(read["message"].get<std::string>()));
      return;
    }
    const Json& metrics = read.contains("metrics") && read["metrics"].is_object() ? read["metrics"] : read;
    for (const char* key : {"step", "global_step", "system/step"}) {
      if (number || !read.contains(key) || !read[key].is_number_integer()) continue;
      number = read[key].get<int>();
    }
    if (!number && read.contains("step_time")) number = ++counted_;  // TRL prints no numbers
    Metrics values;
    for (const auto& [key, value] : metrics.items()) {
      if (const std::optional<double> one = number_in(value)) values.set(key.substr(0, key.find('@')), *one);
    }
    if (number && *number >= 0 && !values.empty()) steps_.add(*number, values);
  }

  // A row of AReaL's table: name, value, name, value.
  void take_cells(std::string_view line) {
    if (!block_) return;
    Metrics values;
    std::string_view name;
    for (std::size_t at = line.find(kCell); at != std::string_view::npos;) {
      const std::size_t from = at + kCell.size();
      at = line.find(kCell, from);
      const std::string_view cell = trimmed(line.substr(from, at == std::string_view::npos ? at : at - from));
      const std::optional<double> number = name.empty() ? std::nullopt : number_in(Json(std::string(cell)));
      if (number) values.set(name, *number);
      name = number ? std::string_view() : cell;
    }
    if (!values.empty()) steps_.add(*block_, values);
  }

  // "  • generation: 58.1s (51.7%)" of a block.
  void take_item(std::string_view line) {
    constexpr std::string_view kBullet = "\xe2\x80\xa2 ";
    const std::size_t at = line.find(kBullet);
    if (!block_ || at == std::string_view::npos) return;
    line.remove_prefix(at + kBullet.size());
    const std::size_t colon = line.rfind(": ");
    if (colon == std::string_view::npos) return;
    const std::string_view value = line.substr(colon + 2);
    double number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error == std::errc() && end != value.data() && std::isfinite(number))
      steps_.add(*block_, Metrics{{line.substr(0, colon), number}});
  }

  StepsByNumber steps_;
  std::optional<int> block_, dictionary_, open_number_;
  std::map<int, int> before_epochs_;  // steps of all blocks before an epoch
  int before_epoch_ = 0, last_block_ = 0;
  bool was_last_ = false;  // the block before was the last of its epoch
  std::string open_;       // a dictionary whose end has not come
  int counted_ = 0;
};

}  // namespace

std::optional<StepLine> step_in_line(std::string_view line) {
  constexpr std::string_view kStep = "Step ", kBar = " |", kLength = "Seq. Length: ";
  const std::size_t at = line.find(kStep);
  if (at == std::string_view::npos || (at > 0 && line[at - 1] != 'm' && line[at - 1] != ' '))
    return std::nullopt;
  if (line.find("| Loss", at) == std::string_view::npos && line.find("| Reward", at) == std::string_view::npos)
    return std::nullopt;
  StepLine step;
  const std::string_view rest = line.substr(at + kStep.size());
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), step.number);
  const std::string_view behind = rest.substr(static_cast<std::size_t>(end - rest.data()));
  if (error != std::errc() || step.number < 0 || !behind.starts_with(kBar)) return std::nullopt;
  const std::string_view time = behind.substr(kBar.size());
  const std::optional<double> step_s = seconds_in(time.substr(0, time.find('|')));
  if (!step_s) return std::nullopt;
  step.step_s = *step_s;
  if (const std::size_t length = line.find(kLength, at); length != std::string_view::npos) {
    const std::string_view value = line.substr(length + kLength.size());
    double tokens = 0;
    const auto parsed = std::from_chars(value.data(), value.data() + value.size(), tokens);
    if (parsed.ec == std::errc() && std::isfinite(tokens) && tokens > 0) step.sample_tokens = tokens;
  }
  return step;
}

std::unique_ptr<LogReader> driver_console_reader() { return std::make_unique<DriverConsole>(); }

}  // namespace sextant::inline calibrate
