// What a probe found, as tables for people.
#pragma once

#include <string>
#include <vector>

#include "probes/gpu/gpu_link_report.h"
#include "probes/gpu/gpu_probe.h"
#include "probes/harness/probe_result.h"

namespace sextant::cli {

// All results, collectives in a table of their own as nccl-tests prints them.
[[nodiscard]] std::string describe(const std::vector<ProbeResult>& results);
[[nodiscard]] std::string describe(const LinkReport& links);
[[nodiscard]] std::string describe(const GpuProbe& gpus);

}  // namespace sextant::cli
