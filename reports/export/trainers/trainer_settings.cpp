#include "reports/export/trainers/trainer_settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <iterator>

#include "core/text.h"
#include "sextant/error.h"

namespace sextant::inline reports {
namespace {

[[noreturn]] void fail_setting(const std::string& place, const std::string& wanted, const Json& found) {
  throw_bad_input(place + ": expected " + wanted + ", got " + shorten(found.dump(), kShownCharacters));
}

bool is_whole(const Json& value, double smallest, double largest) {
  if (!value.is_number()) return false;
  const auto number = value.get<double>();
  return number == std::floor(number) && number >= smallest && number <= largest;
}

bool is_plain_word(std::string_view text) {
  constexpr std::string_view kPlain = "_-./:,@%+=";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kPlain.find(c) != std::string_view::npos;
  });
}

// A string that a reader of YAML or Hydra cannot take for a number, a flag or null, and that has no character
// with a meaning of its own.
bool needs_no_quotes(const std::string& text) {
  if (!is_plain_word(text) || text.find_first_of(":,@%+=") != std::string::npos) return false;
  const char first = text.front();
  return ((first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') || first == '_') && text != "true" &&
         text != "True" && text != "false" && text != "False" && text != "null";
}

std::string number_text(const Json& value) {
  if (value.is_number_integer()) return value.dump();
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value.get<double>()).ptr;
  std::string text(buffer.data(), end);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

// `words`: how the form writes true and false.
std::string value_text(const Json& value, const char* true_word, const char* false_word) {
  if (value.is_boolean()) return value.get<bool>() ? true_word : false_word;
  if (value.is_number()) return number_text(value);
  if (value.is_string() && needs_no_quotes(value.get<std::string>())) return value.get<std::string>();
  return value.dump();  // quotes of JSON are those of YAML and Hydra; a list of strings too
}

// A map of a YAML document, or a value if it has no children.
struct SettingTree {
  std::string name;
  Json value;
  std::vector<SettingTree> children;

  SettingTree& child(const std::string& wanted) {
    const auto found = std::find_if(children.begin(), children.end(),
                                    [&](const SettingTree& one) { return one.name == wanted; });
    if (found != children.end()) return *found;
    children.push_back({wanted, nullptr, {}});
    return children.back();
  }
};

void add_yaml(const SettingTree& node, std::size_t indent, std::string& out) {
  out += std::string(indent, ' ') + node.name + ":";
  out += node.children.empty() ? " " + value_text(node.value, "true", "false") + "\n" : "\n";
  for (const SettingTree& child : node.children) add_yaml(child, indent + 2, out);
}

// `argument`: the text of a setting; settings without text are left out.
std::string array_text(const TrainerSettings& settings,
                       const std::function<std::string(const TrainerSetting&)>& argument) {
  std::string out = "arguments=(\n", group;
  for (const TrainerSetting& one : settings.all()) {
    const std::string text = argument(one);
    if (text.empty()) continue;
    if (one.group != group) out += "    # " + as_comment(one.group) + "\n";
    group = one.group;
    out += "    " + text + "\n";
  }
  return out + ")\n";
}

// The words of a script as a shell would split them; comments and the bodies of here-documents are left out.
std::vector<std::string> shell_words(std::string_view script) {
  std::vector<std::string> words;
  std::string word;
  bool is_in_word = false;
  const auto end_word = [&] {
    if (is_in_word) words.push_back(word);
    word.clear();
    is_in_word = false;
  };
  for (std::size_t i = 0; i < script.size(); ++i) {
    const char c = script[i];
    if (c == '\\' && i + 1 < script.size()) {
      if (script[i + 1] != '\n') word += script[i + 1];
      is_in_word = is_in_word || script[i + 1] != '\n';
      ++i;
    } else if (c == '\'' || c == '"') {
      const std::size_t close = std::min(script.find(c, i + 1), script.size());
      word += script.substr(i + 1, close - i - 1);
      is_in_word = true;
      i = close;
    } else if (c == '#' && !is_in_word) {
      i = std::min(script.find('\n', i), script.size());
    } else if (c == ' ' || c == '\n' || c == '\t') {
      end_word();
    } else {
      word += c;
      is_in_word = true;
    }
  }
  end_word();
  return words;
}

}  // namespace

Json setting_value(const std::string& text) {
  if (text == "True" || text == "true") return true;
  if (text == "False" || text == "false") return false;
  if (text == "null" || text == "None") return nullptr;
  const Json parsed = Json::parse(text, nullptr, false);
  if (!parsed.is_discarded()) return parsed;
  double number = 0;  // "1." and ".5", which JSON does not have
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size() && std::isfinite(number);
  return is_number ? Json(number) : Json(text);
}

void TrainerSettings::put(const std::string& key, const Json& value, const std::string& where) {
  std::erase_if(all_, [&](const TrainerSetting& one) { return one.key == key; });
  all_.push_back({key, value, false, false, group_, where});
}

void TrainerSettings::rename(const std::string& key, const std::string& new_key) {
  for (TrainerSetting& one : all_) {
    if (one.key == key) one.key = new_key;
  }
}

const Json* TrainerSettings::find_or_assumed(std::string_view key) const {
  const Json* stated = find(key);
  if (stated != nullptr && !stated->is_null()) return stated;
  const auto derived = derived_.find(key);
  return derived == derived_.end() ? stated : &derived->second;
}

void TrainerSettings::assume(const std::string& key, const Json& value) {
  const Json* stated = find(key);
  if (stated == nullptr || stated->is_null()) derived_[key] = value;
}

const Json* TrainerSettings::find(std::string_view key) const {
  const auto found =
      std::find_if(all_.begin(), all_.end(), [&](const TrainerSetting& one) { return one.key == key; });
  return found == all_.end() ? nullptr : &found->value;
}

const Json* TrainerSettings::requested(std::string_view key, const Json& otherwise) const {
  read_.emplace(key);
  const Json* stated = find(key);
  if (stated != nullptr && !stated->is_null()) return stated;
  const auto derived = derived_.find(key);
  const bool is_derived = derived != derived_.end() && !derived->second.is_null();
  defaults_.insert_or_assign(std::string(key), is_derived ? derived->second : otherwise);
  return is_derived ? &derived->second : nullptr;
}

std::map<std::string, Json> TrainerSettings::assumed() const { return {defaults_.begin(), defaults_.end()}; }

std::vector<TrainerSetting> TrainerSettings::unread() const {
  std::vector<TrainerSetting> out;
  std::copy_if(all_.begin(), all_.end(), std::back_inserter(out),
               [&](const TrainerSetting& one) { return !read_.contains(one.key); });
  return out;
}

std::string TrainerSettings::place_of(std::string_view key) const {
  const auto found =
      std::find_if(all_.begin(), all_.end(), [&](const TrainerSetting& one) { return one.key == key; });
  const bool has_place = found != all_.end() && !found->where.empty();
  return (has_place ? found->where + ": " : "") + std::string(key);
}

int TrainerSettings::integer(std::string_view key, int otherwise) const {
  const Json* value = requested(key, otherwise);
  if (value == nullptr) return otherwise;
  constexpr double kLargest = 2147483647;
  if (!is_whole(*value, -kLargest, kLargest)) fail_setting(place_of(key), "an integer", *value);
  return static_cast<int>(value->get<double>());
}

int TrainerSettings::count(std::string_view key, int otherwise, int largest) const {
  const Json* value = requested(key, otherwise);
  if (value == nullptr) return otherwise;
  if (!is_whole(*value, 1, largest))
    fail_setting(place_of(key), "an integer from 1 to " + std::to_string(largest), *value);
  return static_cast<int>(value->get<double>());
}

double TrainerSettings::number(std::string_view key, double otherwise) const {
  const Json* value = requested(key, otherwise);
  if (value == nullptr) return otherwise;
  if (!value->is_number()) fail_setting(place_of(key), "a number", *value);
  return value->get<double>();
}

bool TrainerSettings::flag(std::string_view key, bool otherwise) const {
  const Json* value = requested(key, otherwise);
  if (value == nullptr) return otherwise;
  if (!value->is_boolean()) fail_setting(place_of(key), "true or false", *value);
  return value->get<bool>();
}

std::string TrainerSettings::text(std::string_view key, const std::string& otherwise) const {
  const Json* value = requested(key, otherwise);
  if (value == nullptr) return otherwise;
  return value->is_string() ? value->get<std::string>() : value->dump();
}

std::string quoted_for_shell(const std::string& text) {
  if (is_plain_word(text)) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string as_comment(const std::string& text) {
  std::string out = text;
  for (char& c : out) c = static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? ' ' : c;
  return out;
}

std::string hydra_arguments(const TrainerSettings& settings) {
  return array_text(settings, [](const TrainerSetting& one) {
    const std::string key = (one.adds_key ? "+" : "") + one.key;
    return one.is_shell ? key + "=\"" + one.value.get<std::string>() + "\""
                        : quoted_for_shell(key + "=" + value_text(one.value, "True", "False"));
  });
}

std::string flag_arguments(const TrainerSettings& settings) {
  return array_text(settings, [](const TrainerSetting& one) -> std::string {
    const std::string flag = "--" + one.key;
    if (one.value.is_boolean()) return one.value.get<bool>() ? flag : "";
    if (one.is_shell) return flag + " \"" + one.value.get<std::string>() + "\"";
    return flag + " " +
           quoted_for_shell(one.value.is_string() ? one.value.get<std::string>()
                                                  : value_text(one.value, "", ""));
  });
}

std::string yaml_text(const TrainerSettings& settings) {
  SettingTree root;
  for (const TrainerSetting& one : settings.all()) {
    if (one.is_shell) continue;
    SettingTree* node = &root;
    for (std::size_t first = 0; first <= one.key.size();) {
      const std::size_t dot = std::min(one.key.find('.', first), one.key.size());
      node = &node->child(one.key.substr(first, dot - first));
      first = dot + 1;
    }
    node->value = one.value;
  }
  std::string out;
  for (const SettingTree& child : root.children) add_yaml(child, 0, out);
  return out;
}

TrainerSettings read_hydra(std::string_view script) {
  TrainerSettings settings;
  for (const std::string& word : shell_words(script)) {
    const std::size_t equals = word.find('=');
    const std::size_t dot = word.find('.');
    if (equals == std::string::npos || dot > equals) continue;  // MODEL_PATH=...
    const std::size_t first = word.find_first_not_of('+');
    settings.set(word.substr(first, equals - first), setting_value(word.substr(equals + 1)));
  }
  return settings;
}

TrainerSettings read_flags(std::string_view script) {
  TrainerSettings settings;
  const std::vector<std::string> words = shell_words(script);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].rfind("--", 0) != 0) continue;
    const std::string key = words[i].substr(2);
    const bool has_value = i + 1 < words.size() && words[i + 1].rfind("--", 0) != 0 && words[i + 1] != ")";
    settings.set(key, has_value ? setting_value(words[i + 1]) : Json(true));
  }
  return settings;
}

TrainerSettings read_yaml(std::string_view script) {
  TrainerSettings settings;
  constexpr std::string_view kBegin = "<<'YAML'\n", kEnd = "\nYAML\n";
  const std::size_t begin = script.find(kBegin);
  if (begin == std::string_view::npos) throw_bad_input("the script holds no YAML");
  std::string_view rest = script.substr(begin + kBegin.size());
  rest = rest.substr(0, std::min(rest.find(kEnd), rest.size()));
  std::vector<std::string> open;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string line(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const std::size_t indent = line.find_first_not_of(' ');
    const std::size_t colon = line.find(':');
    if (indent == std::string::npos || line[indent] == '#' || colon == std::string::npos) continue;
    open.resize(std::min(open.size(), indent / 2));
    const std::string name = line.substr(indent, colon - indent);
    if (colon + 1 == line.size()) {
      open.push_back(name);
      continue;
    }
    std::string key;
    for (const std::string& part : open) key += part + ".";
    settings.set(key + name, setting_value(line.substr(colon + 2)));
  }
  return settings;
}

}  // namespace sextant::inline reports
