#include "core/this_program.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

namespace sextant::inline core {

namespace fs = std::filesystem;

fs::path this_program() {
  std::error_code fault;
  fs::path program = fs::read_symlink("/proc/self/exe", fault);
  if (!fault) return program;
  const fs::path name = program_invocation_name;
  if (name.has_parent_path()) return fs::weakly_canonical(name, fault);
  const char* folders = std::getenv("PATH");
  const std::string path = folders == nullptr ? "" : folders;
  for (std::size_t from = 0; from < path.size();) {
    const std::size_t end = std::min(path.find(':', from), path.size());
    program = fs::path(path.substr(from, end - from)) / name;
    if (fs::is_regular_file(program, fault)) return fs::weakly_canonical(program, fault);
    from = end + 1;
  }
  return {};
}

}  // namespace sextant::inline core
