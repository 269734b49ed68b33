// Numbers of logs with known facts about them, collected in a JSON file: one log, or several runs, samples or rows
// of published tables.
#pragma once

#include <string>
#include <vector>

#include "calibrate/import/verl/verl_source.h"
#include "core/json_value.h"

namespace sextant::inline calibrate {

// One source for each run, sample or row. `family`: the framework that is asked for; parts of others have a reason
// against them. Throws Error(bad_input) with the JSON path of what is wrong.
[[nodiscard]] std::vector<VerlSource> read_collection(const JsonView& view, const std::string& name,
                                                      const std::string& family);

// The log_history of a trainer_state.json, which Transformers writes.
[[nodiscard]] VerlLog parse_trainer_state(const Json& state);

}  // namespace sextant::inline calibrate
