// What each source of data/public/training means by its knobs, and what its software does without saying so.
#pragma once

#include <string_view>

#include "calibrate/import/records/measured_step.h"
#include "sextant/json.h"

namespace sextant {

struct TrainingSource {
  std::string_view id;  // first word of its records' ids: "mbridge"
  // Sets framework, recomputation and execution from the record's "config". Model, GPU and degrees are set.
  void (*set)(MeasuredStep& step, const JsonView& config);
  std::string_view left_out_because;  // not empty: none of its records is taken
};

// Nothing for a source that is not known.
[[nodiscard]] const TrainingSource* find_training_source(std::string_view id);

}  // namespace sextant
