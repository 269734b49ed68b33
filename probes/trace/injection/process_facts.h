// What a file says about its process, as JSON text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sextant::trace {

// Text as a JSON string, quotes included; bytes that are no ASCII text are replaced by '?'.
[[nodiscard]] std::string json_text(std::string_view text);

// {"host":..., "pid":..., "parent":..., "rank":... (where a launcher says it), "command":...}
[[nodiscard]] std::string process_facts();

// Name of the host, as in process_facts.
[[nodiscard]] std::string host_name();

// {"device":0,"name":"NVIDIA H200","uuid":"..."} from the driver; empty when it does not say.
[[nodiscard]] std::string device_facts(int device);

}  // namespace sextant::trace
