// Where and how the tasks of a published iteration run: the layouts of a record, and what its framework does by
// its nature where the record is silent.
#pragma once

#include <string>

#include "calibrate/import/published/published_record.h"
#include "calibrate/import/records/measured_iteration.h"

namespace sextant {

// FSDP, DeepSpeed, DTensor: every GPU is a replica of weights that are sharded over all.
[[nodiscard]] bool shards_whole_model(const PublishedRecord& record);

// Whether the degrees of actor training are stated, or follow from what the framework is.
[[nodiscard]] bool has_training_layout(const PublishedRecord& record);

// Adds the tasks whose layout is stated, with notes; the batch, the models, the lengths and the GPU are there
// already. Returns why the layouts cannot be right: their degrees do not make up their GPUs, or these are more
// than there are; empty where they can.
[[nodiscard]] std::string set_layouts(const PublishedRecord& record, MeasuredIteration& iteration);

}  // namespace sextant
