#include "sextant/error.h"

#include <cstdio>
#include <cstdlib>

namespace sextant {

void throw_bad_input(const std::string& message) { throw Error(ErrorKind::bad_input, message); }

void throw_machine_failed(const std::string& message) { throw Error(ErrorKind::machine, message); }

namespace detail {
void check_failed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "sextant: bug: %s does not hold at %s:%d\n", expression, file, line);
  std::abort();
}
}  // namespace detail

}  // namespace sextant
