#include "core/in_file.h"

#include <algorithm>
#include <string_view>

namespace sextant::inline core {
namespace {

bool is_in_word(char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

// True if the message has the name as a word of its own: "run.sh" in "run.sh:2: ...", not in "a/rerun.sh: ...".
bool names(std::string_view message, std::string_view file) {
  for (std::size_t at = message.find(file); at != std::string_view::npos; at = message.find(file, at + 1)) {
    const std::size_t end = at + file.size();
    const bool begins = at == 0 || !is_in_word(message[at - 1]);
    const bool ends = end == message.size() || !is_in_word(message[end]);
    if (begins && ends) return true;
  }
  return false;
}

// The text of a document stands in for its file.
bool is_file(const std::string& source) {
  const std::size_t first = source.find_first_not_of(" \t\r\n");
  return first != std::string::npos && source[first] != '{';
}

}  // namespace

std::string with_files(const std::vector<std::string>& files, const std::string& message) {
  std::string prefix;
  for (const std::string& file : files) {
    if (!is_file(file)) continue;
    if (names(message, file)) return message;
    prefix += (prefix.empty() ? "" : ", ") + file;
  }
  return prefix.empty() || message.starts_with("--") ? message : prefix + ": " + message;
}

}  // namespace sextant::inline core
