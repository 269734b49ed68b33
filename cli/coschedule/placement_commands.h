// The actions of `sextant coschedule` on a placement. Each returns the exit code.
#pragma once

#include "cli/coschedule/coschedule_options.h"

namespace sextant::cli {

int create_placement(const CoscheduleOptions& options);
int place_job(const CoscheduleOptions& options);
int release_job(const CoscheduleOptions& options);
int repack_jobs(const CoscheduleOptions& options);
int show_placement(const CoscheduleOptions& options);

}  // namespace sextant::cli
