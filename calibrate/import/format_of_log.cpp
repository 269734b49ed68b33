#include "calibrate/import/format_of_log.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <string_view>
#include <vector>

#include "calibrate/import/verl/driver_dialect.h"
#include "calibrate/import/verl/event_file.h"
#include "calibrate/import/verl/verl_source.h"
#include "core/json_value.h"
#include "core/text_lines.h"
#include "sextant/error.h"

namespace sextant::inline calibrate {
namespace {

constexpr std::array<std::string_view, 9> kVerlNames{
    "timing_s/gen", "timing_s/step", "timing_s/update_actor", "timing_s/old_log_prob", "timing_s/ref",
    "timing_s/adv", "actor/pg_loss", "response_length/mean",  "perf/total_num_tokens"};

// Words that any log may have.
constexpr std::array<std::string_view, 4> kOrdinaryWords{"generation", "weight_sync", "response_length",
                                                         "step_time"};

// The names of each format's metrics that tell it from the others.
std::map<std::string_view, std::vector<std::string_view>> telling_names() {
  std::map<std::string_view, std::vector<std::string_view>> names;
  names["verl"].assign(kVerlNames.begin(), kVerlNames.end());
  for (const DriverDialect& dialect : driver_dialects()) {
    std::vector<std::string_view>& own = names[dialect.name];
    for (const auto& [name, of_verl] : dialect.metrics) own.push_back(name);
    own.insert(own.end(), dialect.step.begin(), dialect.step.end());
    std::erase_if(own, [](std::string_view name) {
      return std::find(kOrdinaryWords.begin(), kOrdinaryWords.end(), name) != kOrdinaryWords.end();
    });
  }
  return names;
}

bool is_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '/'; }

// The name as a word, or behind what trackers put before it.
bool has_word(std::string_view text, std::string_view name) {
  constexpr std::string_view kOfTracker = "train/";
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const std::string_view before = text.substr(0, at);
    const bool begins = before.empty() || !is_of_name(before.back()) || before.ends_with(kOfTracker);
    const std::size_t end = at + name.size();
    if (begins && (end == text.size() || !is_of_name(text[end]))) return true;
  }
  return false;
}

std::string named_most(std::string_view text) {
  std::string_view best;
  std::size_t most = 0, second = 0;
  for (const auto& [format, names] : telling_names()) {
    const auto count = static_cast<std::size_t>(std::count_if(
        names.begin(), names.end(), [text](std::string_view name) { return has_word(text, name); }));
    if (count > most) {
      second = most;
      most = count;
      best = format;
    } else {
      second = std::max(second, count);
    }
  }
  return most > second ? std::string(best) : "";
}

// Lines of steps, which have no names of metrics.
bool has_step_lines(std::string_view text) {
  for (std::size_t at = text.find("Step "); at != std::string_view::npos; at = text.find("Step ", at + 1)) {
    const std::size_t begin = text.rfind('\n', at) + 1;  // 0 in the first line
    if (step_in_line(text.substr(begin, std::min(text.find('\n', at), text.size()) - begin))) return true;
  }
  return false;
}

// The tags of an event file, one a line.
std::string tags_of(std::string_view bytes) {
  std::string tags;
  for (const VerlStep& step : parse_event_file(bytes).steps) {
    for (const auto& [name, value] : step.metrics) tags.append(name).append("\n");
    if (!tags.empty()) break;
  }
  return tags;
}

std::string letters_of(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

// {"framework": {"name": "NeMo-RL"}} or {"framework": "NeMo-RL"} of a collection.
std::string stated_format(std::string_view text) {
  Json json;
  try {
    json = parse_json(text);
  } catch (const Error&) {
    return "";
  }
  if (!json.is_object() || !json.contains("framework")) return "";
  const Json& framework = json["framework"];
  const Json& name = framework.is_object() && framework.contains("name") ? framework["name"] : framework;
  if (!name.is_string()) return "";
  const std::string stated = letters_of(name.get<std::string>());
  std::string found;
  std::size_t first = std::string::npos;  // "verl (a fork with its own rollout loop)" is no log of roll
  for (const auto& [format, names] : telling_names()) {
    const std::size_t at = stated.find(letters_of(std::string(format)));
    if (at >= first) continue;
    first = at;
    found = format;
  }
  return found;
}

}  // namespace

std::string format_of_log(const std::filesystem::path& file) {
  if (std::filesystem::is_directory(file)) {
    constexpr std::size_t kHeader = std::size_t{1} << 16;
    std::string headers;
    for (const std::filesystem::path& table : tables_in(file))
      headers += beginning_of_file(table, kHeader) + "\n";
    return named_most(headers);
  }
  constexpr std::size_t kFirst = std::size_t{1} << 20, kAll = std::size_t{16} << 20;
  for (const std::size_t bytes : {kFirst, kAll}) {
    const std::string text = beginning_of_file(file, bytes);
    if (file.extension() == ".json") {
      if (std::string stated = stated_format(text); !stated.empty()) return stated;
    }
    std::string found = is_event_file(text) ? named_most(tags_of(text)) : named_most(text);
    if (found.empty() && has_step_lines(text)) found = "prime-rl";
    if (!found.empty() || text.size() < bytes) return found;
  }
  return "";
}

}  // namespace sextant::inline calibrate
