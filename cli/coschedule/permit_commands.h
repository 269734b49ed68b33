// `sextant coschedule run`: permits for the phases of real jobs.
#pragma once

#include "cli/coschedule/coschedule_options.h"

namespace sextant::cli {

// Serves the jobs of a group until Ctrl-C or, with --until-left, until all have been there and left; then prints what
// their iterations took.
int run_group(const CoscheduleOptions& options);
// A Unix socket on this host for the permits of a server on another one.
int connect_permits(const CoscheduleOptions& options);

}  // namespace sextant::cli
