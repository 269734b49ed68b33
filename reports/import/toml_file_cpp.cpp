#include <toml++/toml.h>

#include <cmath>
#include <sstream>
#include <string_view>

#include "core/json_value.h"
#include "core/text.h"
#include "reports/import/toml_file.h"
#include "sextant/document.h"
#include "sextant/error.h"

namespace sextant::inline reports {
namespace {

constexpr int kMaxDepth = 100;

// The library makes a table for each part of a dotted key, and deletes them one inside the other: a key of a hundred
// thousand parts would need more stack than a program has. Returns the line of such a key, 0 if there is none.
int line_of_deep_key(std::string_view text) {
  constexpr int kMaxDots = 1000;
  constexpr std::string_view kBetweenKeys = ",=[]{}#\n";
  int line = 1, dots = 0;
  for (const char c : text) {
    if (c == '\n') ++line;
    if (kBetweenKeys.find(c) != std::string_view::npos) dots = 0;
    if (c == '.' && ++dots > kMaxDots) return line;
  }
  return 0;
}

class TomlReader {
 public:
  TomlReader(std::string file, TrainerSettings& settings) : file_(std::move(file)), settings_(&settings) {}

  void read(const std::string& text) {
    if (const int line = line_of_deep_key(text); line > 0) fail(line, "settings are nested too deeply");
    try {
      const toml::table root = toml::parse(std::string_view(text));
      add_table(root, "", 0);
    } catch (const toml::parse_error& error) {
      fail(static_cast<int>(error.source().begin.line), std::string(error.description()));
    }
  }

 private:
  [[nodiscard]] std::string place(int line) const { return file_ + ":" + std::to_string(std::max(1, line)); }
  [[noreturn]] void fail(int line, const std::string& reason) const {
    throw_bad_input(place(line) + ": " + reason);
  }
  static int line_of(const toml::node& node) { return static_cast<int>(node.source().begin.line); }

  void add_table(const toml::table& table, const std::string& prefix, int depth) {
    if (depth > kMaxDepth) fail(line_of(table), "settings are nested too deeply");
    for (const auto& [key, node] : table) {
      const std::string name = prefix + std::string(key.str());
      const toml::table* inner = node.as_table();
      if (inner != nullptr && !inner->empty()) {
        add_table(*inner, name + ".", depth + 1);
      } else {
        const auto line = static_cast<int>(key.source().begin.line);
        settings_->put(name, value(node, depth), place(line > 0 ? line : line_of(node)));
      }
    }
  }

  Json value(const toml::node& node, int depth) const {
    if (depth > kMaxDepth) fail(line_of(node), "settings are nested too deeply");
    if (const toml::table* table = node.as_table()) {
      Json object = Json::object();
      for (const auto& [key, member] : *table) object[std::string(key.str())] = value(member, depth + 1);
      return object;
    }
    if (const toml::array* array = node.as_array()) {
      Json list = Json::array();
      for (const toml::node& one : *array) list.push_back(value(one, depth + 1));
      return list;
    }
    if (const auto* text = node.as_string()) return text->get();
    if (const auto* number = node.as_integer()) return number->get();
    if (const auto* flag = node.as_boolean()) return flag->get();
    const auto* number = node.as_floating_point();
    if (number != nullptr && std::isfinite(number->get())) return number->get();
    return text_of(node);
  }

  // Times, dates, nan and inf, which JSON does not have.
  static std::string text_of(const toml::node& node) {
    std::ostringstream out;
    node.visit([&out](const auto& one) {
      if constexpr (toml::is_value<decltype(one)>) out << one.get();
    });
    return out.str();
  }

  std::string file_;
  TrainerSettings* settings_;
};

}  // namespace

void read_toml_file(const std::filesystem::path& file, TrainerSettings& settings) {
  TomlReader(file.string(), settings).read(valid_utf8(read_text_file(file)));
}

bool has_toml() { return true; }

}  // namespace sextant::inline reports
