// How a plan stands: what it gains over a layout that is written without a search, and the number that its predicted time
// depends on and that is known least.
#pragma once

#include <string>

#include "ask/plan/plan_question.h"
#include "ask/plan/plan_within_risk.h"

namespace sextant::inline ask {

// Compares the time with that of the smallest degrees that fit: the first of tensor parallelism 1, 2, 4, 8 in generation
// and of FSDP over all devices (frameworks with Megatron: tensor and pipeline parallelism from 1 on) in training that fits
// in memory, on the same devices or on a half each, otherwise as the framework does by default; with states on the host only
// where nothing fits without. Mixtures train with their experts over eight devices. Empty if the goal is not the time
// alone, if devices are pinned, and if there is no profile of a framework.
[[nodiscard]] std::string gain_over_smallest_degrees(const PlanQuestion& question, const PlanInputs& asked,
                                                     const PlanResult& found);

// Names the coefficient with the largest share of the variance of the time, and what would measure it. Empty if the
// coefficients have no spread.
[[nodiscard]] std::string number_known_worst(const PlanInputs& asked, const PlanResult& found);

// Puts both sentences into the record of the answer.
void record_standing(const PlanQuestion& question, const PlanInputs& asked, PlanOutput& answer);

}  // namespace sextant::inline ask
