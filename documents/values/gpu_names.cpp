#include "documents/values/gpu_names.h"

#include <cctype>
#include <map>
#include <string>

namespace sextant::inline documents {
namespace {

std::string without_separators(std::string_view name) {
  std::string plain;
  for (const char character : name) {
    if (character != ' ' && character != '-' && character != '_')
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(character)));
  }
  return plain;
}

std::string name_behind(std::string_view text) {
  static const std::map<std::string, std::string> names = [] {
    std::map<std::string, std::string> all;
    for (const auto& [alias, name] : gpu_aliases())
      all.emplace(without_separators(alias), without_separators(name));
    return all;
  }();
  const std::string plain = without_separators(text);
  const auto found = names.find(plain);
  return found == names.end() ? plain : found->second;
}

}  // namespace

bool is_same_gpu(std::string_view a, std::string_view b) { return a == b || name_behind(a) == name_behind(b); }

}  // namespace sextant::inline documents
