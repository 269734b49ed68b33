// Device types from the ranks' reports; part of assembling a cluster.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "probes/report/rank_report.h"
#include "sextant/cluster.h"

namespace sextant::inline probes {

// Returns the types by name. Adds a warning for each rank that is far from its type's median.
[[nodiscard]] std::map<std::string, DeviceType> assemble_device_types(const std::vector<RankReport>& reports,
                                                                      std::vector<std::string>& warnings);

}  // namespace sextant::inline probes
