// Converts one CUPTI record to a record of the trace.
#pragma once

#include <string_view>

#include "probes/trace/injection/cupti_abi.h"
#include "probes/trace/record/record.h"

namespace sextant::trace {

struct ConvertedActivity {
  bool is_wanted = false;  // false: an unused kind, or without times
  bool lacks_times = false;
  Record record;
  std::string_view name;  // CUPTI's own text; empty: none
};

[[nodiscard]] ConvertedActivity convert(const cupti::Activity& activity);

}  // namespace sextant::trace
