#include "probes/comm/host_name.h"

namespace sextant::inline probes {

std::string host_name(const Environment& environment, const std::string& own) {
  const auto given = environment(kHostNameVariable);
  return given && !given->empty() ? *given : own;
}

}  // namespace sextant::inline probes
