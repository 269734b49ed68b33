// References between settings, as OmegaConf and NeMo RL write them.
#pragma once

#include "reports/export/trainers/trainer_settings.h"

namespace sextant::inline reports {

// Replaces values such as "${actor.path}", "${oc.select:data.max_length,512}" and "${mul:${a}, 2}" by what they
// refer to: mul and div of integers. Values that are
// assumed count too. A value that refers to nothing stays.
void resolve_references(TrainerSettings& settings);

}  // namespace sextant::inline reports
