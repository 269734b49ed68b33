// The actions of `sextant coschedule` on job traces. Each returns the exit code.
#pragma once

#include "cli/coschedule/coschedule_options.h"

namespace sextant::cli {

int simulate_trace(const CoscheduleOptions& options);
int compare_policies(const CoscheduleOptions& options);

}  // namespace sextant::cli
