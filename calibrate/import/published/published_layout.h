// The devices and layouts of the tasks of a published iteration: those that the record states, and the
// framework's usual ones if the record states none.
#pragma once

#include <string>

#include "calibrate/import/published/published_record.h"
#include "calibrate/import/records/measured_iteration.h"

namespace sextant {

// Returns true for FSDP, DeepSpeed and DTensor: every GPU is a replica of weights that are sharded over all.
[[nodiscard]] bool shards_whole_model(const PublishedRecord& record);

// Whether the degrees of actor training are stated, or follow from the framework.
[[nodiscard]] bool has_training_layout(const PublishedRecord& record);

// Adds the tasks whose layout is stated, with notes; batch, models, lengths and GPU must be set. Returns why
// the layouts are impossible: their degrees do not multiply to their GPUs, or need more GPUs than there are.
// Empty if they are possible.
[[nodiscard]] std::string set_layouts(const PublishedRecord& record, MeasuredIteration& iteration);

}  // namespace sextant
