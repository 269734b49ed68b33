// Tables of probe results for people.
#pragma once

#include <string>
#include <vector>

#include "probes/gpu/gpu_link_report.h"
#include "probes/gpu/gpu_probe.h"
#include "probes/harness/probe_result.h"

namespace sextant::cli {

// Returns a table of all results; collectives have a table of their own, in the format of nccl-tests.
[[nodiscard]] std::string describe(const std::vector<ProbeResult>& results);
[[nodiscard]] std::string describe(const LinkReport& links);
[[nodiscard]] std::string describe(const GpuProbe& gpus);

}  // namespace sextant::cli
