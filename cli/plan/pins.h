// sextant plan --pin and --pin-from: tasks that stay where they are.
#pragma once

#include <string>
#include <vector>

#include "cli/command_line/command.h"
#include "cli/shared/inputs.h"
#include "sextant/search.h"
#include "sextant/search_space.h"

namespace sextant::cli {

struct PinOptions {
  std::vector<std::string> devices;  // TASK=DEVICES
  std::vector<std::string> layouts;  // plan.json:TASK

  [[nodiscard]] bool has_any() const { return !devices.empty() || !layouts.empty(); }
};

void add_pin_options(const Command& command, PinOptions& options);

// Of the whole cluster. Execution options of layouts that tasks are pinned to join the task's choices. Throws
// Error(bad_input) for what cannot be read, a task or devices that are not there, a task that is pinned twice,
// and a layout that cannot be run.
[[nodiscard]] Pins pins_of(const PinOptions& options, const LoadedInputs& loaded,
                           std::vector<TaskChoices>& choices);

// Into the document.
void record_pins(const Pins& pins, SearchRecord& record);

}  // namespace sextant::cli
