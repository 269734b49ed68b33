// Tasks with fixed devices or layouts, in words.
#pragma once

#include <string>
#include <vector>

#include "ask/inputs.h"
#include "sextant/search.h"
#include "sextant/search_space.h"

namespace sextant::inline ask {

struct PinOptions {
  std::vector<std::string> devices;  // TASK=DEVICES
  std::vector<std::string> layouts;  // plan.json:TASK

  [[nodiscard]] bool has_any() const { return !devices.empty() || !layouts.empty(); }
};

// Returns pins on the whole cluster. Execution options of pinned layouts are added to the task's choices.
// Throws Error(bad_input) for text that cannot be parsed, a task or devices that do not exist, a task that is
// pinned twice, and a layout that cannot run. `notes` receives what the plans of layouts leave out.
[[nodiscard]] Pins pins_of(const PinOptions& options, const LoadedInputs& loaded,
                           std::vector<TaskChoices>& choices, std::vector<std::string>& notes);

// Writes the pins into the document.
void record_pins(const Pins& pins, SearchRecord& record);

}  // namespace sextant::inline ask
