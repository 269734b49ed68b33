#include "tests/architecture/type_names.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <stdexcept>

#include "tests/architecture/source_tree.h"

namespace sextant::architecture {
namespace {

namespace fs = std::filesystem;

// The namespaces that a file is in, from line to line.
class Nesting {
 public:
  // Whether the line opens or closes a namespace.
  bool follow(const std::string& line) {
    static const std::regex opening(R"(^(?:inline )?namespace(?: ([\w:]+))? \{)");
    static const std::regex closing(R"(^\}\s+// namespace)");
    std::smatch match;
    if (std::regex_search(line, match, opening)) {
      open_.push_back(match[1]);
      return true;
    }
    if (!open_.empty() && std::regex_search(line, closing)) {
      open_.pop_back();
      return true;
    }
    return false;
  }
  [[nodiscard]] bool is_anonymous() const { return std::find(open_.begin(), open_.end(), "") != open_.end(); }
  [[nodiscard]] std::string qualified(const std::string& name) const {
    std::string all;
    for (const std::string& space : open_) all += space + "::";
    return all + name;
  }

 private:
  std::vector<std::string> open_;  // names; empty: anonymous
};

// The name that a line at namespace level defines; empty if it defines none.
std::string defined_name(const std::string& line) {
  static const std::regex type(
      R"(^(?:class|struct|union|enum(?: class)?) (?:alignas\([^)]*\) )?(?:\[\[\w+\]\] )?(\w+)(?: final)?(?: :[^;]*)?(?: \{.*)?$)");
  static const std::regex alias(R"(^using (\w+) =)");
  static const std::regex constant(R"(^inline (?:constexpr|const) [^(]*?(\w+)(?:\[\w*\])?(?: =|\{))");
  std::smatch match;
  for (const std::regex* kind : {&type, &alias, &constant}) {
    if (std::regex_search(line, match, *kind)) return match[1];
  }
  return "";
}

using Definitions = std::map<std::string, std::set<std::string>>;  // files by qualified name

void note_definitions(const fs::path& root, const std::string& path, Definitions& definitions) {
  std::ifstream file(root / path);
  Nesting nesting;
  for (std::string line; std::getline(file, line);) {
    if (nesting.follow(line) || nesting.is_anonymous()) continue;
    const std::string name = defined_name(line);
    if (!name.empty()) definitions[nesting.qualified(name)].insert(path);
  }
}

}  // namespace

std::vector<std::string> find_odr_clashes(const fs::path& root) {
  Definitions definitions;
  for (const std::string& path : sources_below(root)) note_definitions(root, path, definitions);
  std::vector<std::string> found;
  for (const auto& [name, files] : definitions) {
    if (files.size() < 2) continue;
    std::string sentence = name + " is defined in ";
    for (const std::string& file : files) sentence += (file == *files.begin() ? "" : " and in ") + file;
    found.push_back(std::move(sentence));
  }
  return found;
}

}  // namespace sextant::architecture
