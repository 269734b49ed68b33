// Converts a trace to Chrome trace events, which Perfetto and chrome://tracing show: one row for each thread's
// ranges, one for each stream of a device.
#pragma once

#include <string>

#include "probes/trace/analysis/trace.h"

namespace sextant::trace {

// At most `max_events` events of device activity: of a longer trace the part from the middle on, which is past
// the warm-up. All ranges are included. JSON text with one line per event.
[[nodiscard]] std::string trace_events(const Trace& trace, std::size_t max_events);

}  // namespace sextant::trace
