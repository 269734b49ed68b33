// A trace as Chrome trace events, which Perfetto and chrome://tracing show: one row for each thread's ranges,
// one for each stream of a device.
#pragma once

#include <string>

#include "probes/trace/analysis/trace.h"

namespace sextant::trace {

// At most `max_events` of device activity: where there is more, the part from the middle of the trace on,
// which has passed the warm-up. Ranges are all there. JSON text with its own line for each event.
[[nodiscard]] std::string trace_events(const Trace& trace, std::size_t max_events);

}  // namespace sextant::trace
