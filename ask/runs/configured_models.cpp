#include "ask/runs/configured_models.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "ask/data_files.h"
#include "ask/hub_cache.h"
#include "ask/model_source.h"
#include "core/in_file.h"
#include "sextant/error.h"

namespace sextant::inline ask {
namespace {

Facts shipped() {
  const std::filesystem::path data = data_folder();
  return Facts::load(data / "gpus.json", data / "models.json");
}

std::string last_part(const std::string& path) {
  const std::size_t end = path.find_last_not_of('/');
  const std::string trimmed = path.substr(0, end == std::string::npos ? 0 : end + 1);
  return trimmed.substr(trimmed.rfind('/') + 1);
}

// "MODEL_PATH" of "$MODEL_PATH" and "${MODEL_PATH}"; empty: the text is more than a variable.
std::string variable_of(std::string_view text) {
  if (!text.starts_with('$')) return "";
  text.remove_prefix(1);
  if (text.starts_with('{') && text.ends_with('}')) text = text.substr(1, text.size() - 2);
  const bool is_name = std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
  return is_name ? std::string(text) : "";
}

}  // namespace

ConfiguredModels::ConfiguredModels(std::string file, std::map<std::string, std::string> in_script)
    : facts_(shipped()), file_(std::move(file)), in_script_(std::move(in_script)) {}

std::string ConfiguredModels::from_comments(const std::string& configured) const {
  const auto named = in_script_.find(variable_of(configured));
  return named == in_script_.end() ? configured : named->second;
}

bool ConfiguredModels::is_named(const std::string& configured, const std::string& given) const {
  if (!given.empty()) return true;
  if (variable_of(configured).empty()) return !configured.empty();
  return facts_.has_model(from_comments(configured));
}

Model ConfiguredModels::find(const std::string& configured, const std::string& given, const char* option) {
  if (!given.empty()) return in_file(option, [&] { return found(given); });
  if (configured.empty()) throw_bad_input(file_ + ": the configuration does not name the model: add " + option);
  const std::string named = from_comments(configured);
  if (named != configured)
    assumed.push_back(std::string(option) + " " + named + ": the script's comments name it for " +
                      variable_of(configured));
  const std::string last = last_part(named);
  try {
    return found(last.empty() || std::filesystem::exists(named) ? named : known_name(named, last));
  } catch (const Error& error) {
    throw_bad_input(file_ + ": " + error.what() + "; name the model with " + option);
  }
}

// "Qwen/Qwen3-8B" is a name; "/data/models/Qwen3-8B" and "$HOME/Qwen3-8B" are paths.
std::string ConfiguredModels::known_name(const std::string& configured, const std::string& last) {
  if (facts_.has_model(configured)) return configured;
  if (facts_.has_model(last)) return last;
  return configured;
}

Model ConfiguredModels::found(const std::string& name) {
  FoundModel model = find_model(name, facts_, hub_cache());
  for (std::string& note : model.notes) notes.push_back(std::move(note));
  return model.model;
}

}  // namespace sextant::inline ask
