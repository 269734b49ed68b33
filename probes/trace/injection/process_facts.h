// The description of a process in its file, as JSON text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sextant::trace {

// Returns text as a JSON string, with quotes; bytes that are not ASCII text are replaced by '?'.
[[nodiscard]] std::string json_text(std::string_view text);

// {"host":..., "pid":..., "parent":..., "rank":... (if a launcher sets it), "command":...}
[[nodiscard]] std::string process_facts();

// Returns the name of the host, as in process_facts.
[[nodiscard]] std::string host_name();

// {"device":0,"name":"NVIDIA H200","uuid":"..."} from the driver; empty if it does not report it.
[[nodiscard]] std::string device_facts(int device);

}  // namespace sextant::trace
