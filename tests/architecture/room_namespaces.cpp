#include "tests/architecture/room_namespaces.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <regex>
#include <string_view>

#include "tests/architecture/source_tree.h"

namespace sextant::architecture {
namespace {

namespace fs = std::filesystem;

bool is_header_of_room(const std::string& path) {
  constexpr std::array<std::string_view, 9> kRooms = {"ask", "calibrate", "core",   "costmodel", "documents",
                                                      "lab", "planner",   "probes", "reports"};
  const std::string_view room = std::string_view(path).substr(0, path.find('/'));
  return std::find(kRooms.begin(), kRooms.end(), room) != kRooms.end() && path.ends_with(".h");
}

// The first line in the plain namespace that does more than declare a type; empty if there is none.
std::string first_plain_definition(const fs::path& file) {
  static const std::regex declaration(R"(^((class|struct|enum class) \w+;.*|//.*|))");
  std::ifstream in(file);
  bool is_plain = false;
  for (std::string line; std::getline(in, line);) {
    if (line == "namespace sextant {") {
      is_plain = true;
    } else if (line.starts_with("}")) {
      is_plain = false;
    } else if (is_plain && !std::regex_match(line, declaration)) {
      return line;
    }
  }
  return "";
}

}  // namespace

std::vector<std::string> find_names_outside_rooms(const fs::path& root) {
  std::vector<std::string> found;
  for (const std::string& path : sources_below(root)) {
    if (!is_header_of_room(path)) continue;
    const std::string line = first_plain_definition(root / path);
    if (!line.empty()) found.push_back(path + " has \"" + line + "\" in no room's namespace");
  }
  return found;
}

}  // namespace sextant::architecture
