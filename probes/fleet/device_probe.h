// Probes the devices of this host, in a separate process that can be ended.
#pragma once

#include <string>
#include <vector>

#include "probes/fleet/messages.h"
#include "probes/report/device_report.h"

namespace sextant::inline probes {

// `probe` prints a cluster document; the command's options and "--samples FILE" are appended. Throws
// Error(machine) if it fails or takes too long.
[[nodiscard]] DeviceReport probe_devices(std::vector<std::string> probe, const DevicesCommand& command);

}  // namespace sextant::inline probes
