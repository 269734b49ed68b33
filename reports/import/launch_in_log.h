// The command that started a run, in the console log that was pasted below it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sextant::inline reports {

// The launch with its continued lines ("\" at their ends) and the assignments above it, as a script. Empty if no
// line launches one of the programs ("main_ppo"). Colours, Ray's prefixes, prompts and the "+" of "set -x" are
// taken off.
[[nodiscard]] std::string launch_in_log(std::string_view log, const std::vector<std::string_view>& programs);

}  // namespace sextant::inline reports
