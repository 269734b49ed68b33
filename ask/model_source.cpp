#include "ask/model_source.h"

#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "ask/data_files.h"
#include "ask/hub_cache.h"
#include "ask/words/nearest_name.h"
#include "calibrate/spelling.h"
#include "core/in_file.h"
#include "core/json_value.h"
#include "core/text.h"
#include "documents/hugging_face.h"
#include "sextant/document.h"
#include "sextant/error.h"

namespace sextant::inline ask {
namespace {

namespace fs = std::filesystem;

// The file itself, or the config.json of a folder.
std::optional<fs::path> file_at(const fs::path& path) {
  std::error_code fault;
  if (fs::is_regular_file(path, fault)) return path;
  if (fs::is_regular_file(path / "config.json", fault)) return path / "config.json";
  return std::nullopt;
}

// "Qwen/Qwen3-8B" of a file in the cache, else the name of the folder of a config.json, else that of the file.
std::string name_of_file(const fs::path& file) {
  if (const auto id = hub_id_in(file)) return *id;
  std::error_code fault;
  const fs::path folder = fs::absolute(file, fault).lexically_normal().parent_path().filename();
  return file.filename() == "config.json" && !folder.empty() ? folder.string() : file.stem().string();
}

FoundModel parse_file(const fs::path& file, const std::string& name) {
  const std::string text = read_text_file(file);
  if (text.find_first_not_of(" \t\r\n") == std::string::npos)
    throw_bad_input("the file is empty; expected the config.json of a Hugging Face model, or a model document");
  const Json json = parse_config(text);
  if (json.is_object() && json.contains("schema"))
    return {parse_document<Model>(text).content, file.string(), {}};
  ConfigModel read = model_from_config(JsonView(json), name);
  return {std::move(read.model), file.string(), std::move(read.notes)};
}

FoundModel read_file(const fs::path& file, const std::string& name) {
  return in_file(file, [&] { return parse_file(file, name); });
}

std::string without_organisation(const std::string& name) { return name.substr(name.rfind('/') + 1); }

// The longest name that the text begins with: "Qwen3-8B" for "Qwen3-8B-Base". Empty: none.
std::string_view begun_by(const std::string& text, const std::vector<std::string_view>& names) {
  std::string_view longest;
  for (const std::string_view name : names) {
    if (text.starts_with(name) && name.size() > longest.size()) longest = name;
  }
  return longest;
}

// "qwen3-8b" for "Qwen/Qwen3-8B-Instruct": tuning changes no shape.
std::string name_of_shape(const std::string& text) {
  std::string name = lower_case(without_organisation(text));
  for (const std::string_view suffix :
       {"-bf16", "-2507", "-instruct", "-thinking", "-it", "-chat", "-base", "-pt", "-hf"}) {
    if (name.ends_with(suffix)) name.resize(name.size() - suffix.size());
  }
  return name;
}

// "Qwen/Qwen3-8B" for "Qwen/Qwen3-8B-FP8" or "Qwen/Qwen3-8B-SFT": copies in another precision and fine-tuned ones have the
// shape of the model. Empty: the name has no such ending.
std::string name_of_original(const std::string& name) {
  const std::string lower = lower_case(name);
  for (const std::string_view end :
       {"-fp8", "-fp8-dynamic", "-int4", "-int8", "-awq", "-gptq-int4", "-gptq-int8", "-nvfp4", "-mxfp4",
        "-w8a8", "-w4a16", "-base", "-instruct", "-sft", "-rl", "-dpo"}) {
    if (lower.ends_with(end)) return name.substr(0, name.size() - end.size());
  }
  return "";
}

struct ShippedConfig {
  std::string name;  // the model's id on the Hugging Face Hub
  fs::path file;
};

// The files of data/configs, as its sources.json lists them.
std::vector<ShippedConfig> shipped_configs() {
  const auto data = find_data_folder();
  if (!data || !fs::exists(*data / "configs" / "sources.json")) return {};
  std::vector<ShippedConfig> configs;
  const Json sources = parse_json(read_text_file(*data / "configs" / "sources.json"));
  for (const JsonView& one : JsonView(sources).required("configs").items())
    configs.push_back({one.required("model").text(), *data / "configs" / one.required("file").text()});
  return configs;
}

std::optional<ShippedConfig> shipped_config(const std::string& text) {
  const std::string wanted = name_of_shape(text);
  for (ShippedConfig& config : shipped_configs()) {
    if (wanted == name_of_shape(config.name) || wanted == lower_case(config.file.stem().string()))
      return std::move(config);
  }
  return std::nullopt;
}

std::string suggestion(const std::string& text, const Facts& facts, const fs::path& cache) {
  const std::vector<std::string> cached = cached_models(cache);
  std::string near = nearest_name(text, std::vector<std::string_view>(cached.begin(), cached.end()));
  const std::string name = without_organisation(text);
  if (near.empty()) near = begun_by(name, facts.model_names());
  if (!near.empty()) return near;
  const std::vector<std::string_view> known = facts.model_names();
  std::vector<std::string> names(known.begin(), known.end());
  for (const ShippedConfig& config : shipped_configs()) {
    names.push_back(without_organisation(config.name));
    names.push_back(config.file.stem().string());
  }
  return nearest_name(name, std::vector<std::string_view>(names.begin(), names.end()));
}

[[noreturn]] void refuse(const std::string& text, const std::string& name, const Facts& facts,
                         const fs::path& cache) {
  if (text.ends_with(".json")) throw_bad_input("there is no file " + in_quotes(text));
  std::string message = facts.why_no_model(name);
  const bool has_reason = !message.ends_with("is not known");
  const std::string near = has_reason ? "" : suggestion(name, facts, cache);
  if (!near.empty()) message += "; did you mean " + in_quotes(near) + "?";
  std::error_code fault;
  if (fs::is_directory(text, fault)) message += "; the folder has no config.json";
  if (is_hub_id(name)) message += "; the Hugging Face cache " + cache.string() + " does not have it either";
  throw_bad_input(message + "; give the path to its config.json, or to a model document with its shape");
}

}  // namespace

namespace {

// A model that the data folder has.
std::optional<FoundModel> shipped_model(const std::string& name, const Facts& facts) {
  if (facts.has_model(name)) return FoundModel{facts.model(name), "data/models.json", {}};
  if (const auto config = shipped_config(name)) return read_file(config->file, config->name);
  return std::nullopt;
}

}  // namespace

FoundModel find_model(const std::string& stated, const Facts& facts, const fs::path& cache) {
  const std::string text = stated.substr(0, stated.find_last_not_of('/') + 1);  // "models/Qwen3-8B/"
  if (text.empty()) throw_bad_input("expected the name of a model or the path to its config.json, got no text");
  if (const auto file = file_at(text)) return read_file(*file, name_of_file(*file));
  const std::string name = hub_id_in(text).value_or(text);
  if (is_hub_id(name)) {
    if (const auto config = cached_config(cache, name)) return read_file(*config, name);
  }
  if (auto found = shipped_model(name, facts)) return std::move(*found);
  const std::string original = name_of_original(name);
  auto copied = original.empty() ? std::nullopt : shipped_model(original, facts);
  if (!copied && !original.empty()) copied = shipped_model(without_organisation(original), facts);
  if (!copied && !original.empty()) {  // "Qwen3-0.6B-Reverse-Text" of "Qwen3-0.6B-Reverse-Text-SFT"
    const std::string last = without_organisation(original);
    const std::string_view begin = begun_by(last, facts.model_names());
    if (!begin.empty() && last.size() > begin.size() && last[begin.size()] == '-')
      copied = shipped_model(std::string(begin), facts);
  }
  if (copied) {
    copied->notes.push_back(name + " is taken to have the shape of " + copied->model.name +
                            ", and nothing else from its name, such as a precision.");
    return std::move(*copied);
  }
  refuse(text, name, facts, cache);
}

std::map<std::string, Model> known_models(const Facts& facts) {
  std::map<std::string, Model> models;
  for (const std::string_view name : facts.model_names()) models.emplace(name, facts.model(std::string(name)));
  for (const ShippedConfig& config : shipped_configs()) {
    if (!facts.has_model(config.name)) models.emplace(config.name, read_file(config.file, config.name).model);
  }
  return models;
}

}  // namespace sextant::inline ask
