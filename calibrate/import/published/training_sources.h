// The meaning of the knobs of each source in data/public/training, and the defaults of its software.
#pragma once

#include <string_view>

#include "calibrate/import/records/measured_step.h"
#include "sextant/json.h"

namespace sextant {

struct TrainingSource {
  std::string_view id;  // first word of its records' ids: "mbridge"
  // Sets framework, recomputation and execution from the record's "config". Model, GPU and degrees must be set.
  void (*set)(MeasuredStep& step, const JsonView& config);
  std::string_view left_out_because;  // if not empty, none of its records is imported
};

// Returns nullptr for an unknown source.
[[nodiscard]] const TrainingSource* find_training_source(std::string_view id);

}  // namespace sextant
