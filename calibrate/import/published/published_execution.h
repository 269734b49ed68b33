// Sets how the tasks of a published iteration run, once their devices are known: batches, engine, precision,
// memory.
#pragma once

#include <string>

#include "calibrate/import/published/published_record.h"
#include "calibrate/import/records/measured_iteration.h"

namespace sextant {

[[nodiscard]] bool is_training_task(const std::string& task);

// Sets the execution of a task whose name and degrees are set; assumptions are noted in the iteration.
void set_execution(const PublishedRecord& record, const PublishedTask& layout, MeasuredIteration& iteration,
                   MeasuredTask& task);

// Sets the DeepSpeed stages of all tasks together, by what fits the GPUs' memory.
void set_deepspeed_stages(MeasuredIteration& iteration);

}  // namespace sextant
