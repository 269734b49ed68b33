#include "cli/shared/notes.h"

#include <cstdio>

#include "core/text.h"

namespace sextant::cli {

void say(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) std::fprintf(stderr, "sextant: %s\n", printable_lines(note).c_str());
}

}  // namespace sextant::cli
