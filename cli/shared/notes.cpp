#include "cli/shared/notes.h"

#include <cstdio>

#include "core/text.h"

namespace sextant::cli {

namespace {

// Words of more characters are cut: names and values of a file may have any length.
std::string with_short_words(const std::string& text) {
  constexpr std::size_t kMaxWord = 300;
  std::string out;
  std::size_t word = 0;
  for (const char c : text) {
    word = c == ' ' || c == '\n' ? 0 : word + 1;
    if (word <= kMaxWord) out += c;
    if (word == kMaxWord + 1) out += "...";
  }
  return out;
}

}  // namespace

void say(const std::vector<std::string>& notes) {
  for (const std::string& note : notes)
    std::fprintf(stderr, "sextant: %s\n", with_short_words(printable_lines(note)).c_str());
}

}  // namespace sextant::cli
