// Scalars of TensorBoard's event files, which NeMo RL, verl, slime, AReaL and TRL write: TFRecords (length, checksum,
// payload, checksum) of Event messages in protobuf's encoding.
#pragma once

#include <string_view>

#include "calibrate/import/verl/verl_log.h"

namespace sextant::inline calibrate {

[[nodiscard]] bool is_event_file(std::string_view bytes);

// A record that was cut off ends the reading, as a process that was killed leaves one.
[[nodiscard]] VerlLog parse_event_file(std::string_view bytes);

}  // namespace sextant::inline calibrate
