#include "cli/verified.h"

#include "core/error.h"

namespace sextant::cli {

void require_verified(const Verdict& verdict) {
  if (verdict.feasible()) return;
  std::string all;
  for (const Violation& violation : verdict.violations) {
    all += (all.empty() ? "" : "; ") + describe(violation);
  }
  throw_machine_failed("internal error: the plan that was found cannot be run, so nothing is written: " + all);
}

}  // namespace sextant::cli
