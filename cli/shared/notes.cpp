#include "cli/shared/notes.h"

#include <cstdio>

namespace sextant::cli {

void say(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) std::fprintf(stderr, "sextant: %s\n", note.c_str());
}

}  // namespace sextant::cli
