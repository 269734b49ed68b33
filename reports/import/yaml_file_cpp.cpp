#include <yaml-cpp/yaml.h>

#include <set>

#include "core/json_value.h"
#include "core/text.h"
#include "reports/import/yaml_file.h"
#include "sextant/document.h"
#include "sextant/error.h"

namespace sextant::inline reports {
namespace {

constexpr int kMaxDepth = 100;
constexpr const char* kMerge = "<<";

class YamlReader {
 public:
  YamlReader(std::string file, int first_line, TrainerSettings& settings)
      : file_(std::move(file)), first_line_(first_line), settings_(&settings) {}

  void read(const std::string& text) {
    try {
      const YAML::Node root = YAML::Load(text);
      if (root.IsNull()) return;
      if (!root.IsMap()) fail(root, "expected a map of settings");
      add_map(root, "", 0);
    } catch (const YAML::Exception& error) {
      throw_bad_input(file_ + ":" + std::to_string(error.mark.is_null() ? first_line_ : line_of(error.mark)) +
                      ": " + error.msg);
    }
  }

 private:
  [[nodiscard]] int line_of(const YAML::Mark& mark) const { return first_line_ + std::max(0, mark.line); }
  [[nodiscard]] std::string place(const YAML::Node& node) const {
    return file_ + ":" + std::to_string(line_of(node.Mark()));
  }
  [[noreturn]] void fail(const YAML::Node& node, const std::string& reason) const {
    throw_bad_input(place(node) + ": " + reason);
  }

  void add_map(const YAML::Node& map, const std::string& prefix, int depth) {
    if (depth > kMaxDepth) fail(map, "settings are nested too deeply");
    for (const auto& member : map) {  // those of the map itself replace merged ones
      if (member.first.IsScalar() && member.first.Scalar() == kMerge) add_merged(member.second, prefix, depth);
    }
    std::set<std::string> names;
    for (const auto& member : map) {
      if (!member.first.IsScalar()) fail(member.first, "expected a name");
      const std::string& name = member.first.Scalar();
      if (name == kMerge) continue;
      if (!names.insert(name).second) fail(member.first, "\"" + prefix + name + "\" is there twice");
      add(member.second, prefix + name, depth);
    }
  }

  void add_merged(const YAML::Node& merged, const std::string& prefix, int depth) {
    if (merged.IsMap()) return add_map(merged, prefix, depth + 1);
    for (const YAML::Node& one : merged) {
      if (one.IsMap()) add_map(one, prefix, depth + 1);
    }
  }

  void add(const YAML::Node& node, const std::string& key, int depth) {
    if (node.IsMap() && node.size() > 0) return add_map(node, key + ".", depth + 1);
    settings_->put(key, value(node, depth), place(node));
  }

  Json value(const YAML::Node& node, int depth) const {
    if (depth > kMaxDepth) fail(node, "settings are nested too deeply");
    if (node.IsSequence()) {
      Json list = Json::array();
      for (const YAML::Node& one : node) list.push_back(value(one, depth + 1));
      return list;
    }
    if (node.IsMap()) return Json::object();
    if (!node.IsScalar()) return nullptr;
    const bool is_quoted = node.Tag() == "!";
    return is_quoted ? Json(node.Scalar()) : setting_value(node.Scalar());
  }

  std::string file_;
  int first_line_;
  TrainerSettings* settings_;
};

}  // namespace

void read_yaml_file(const std::filesystem::path& file, TrainerSettings& settings) {
  read_yaml_text(valid_utf8(read_text_file(file)), file.string(), 1, settings);
}

void read_yaml_text(const std::string& text, const std::string& file, int first_line,
                    TrainerSettings& settings) {
  YamlReader(file, first_line, settings).read(text);
}

bool has_yaml() { return true; }

}  // namespace sextant::inline reports
