// All importers of configurations.
#pragma once

#include <span>
#include <string_view>

#include "reports/import/importer.h"

namespace sextant {

[[nodiscard]] std::span<const Importer> importer_table();
[[nodiscard]] const Importer* find_importer(std::string_view family);  // null: there is none

// Rows of the table.
[[nodiscard]] Importer verl_importer();
[[nodiscard]] Importer nemo_rl_importer();
[[nodiscard]] Importer openrlhf_importer();
[[nodiscard]] Importer slime_importer();
[[nodiscard]] Importer areal_importer();
[[nodiscard]] Importer roll_importer();
[[nodiscard]] Importer trl_importer();

}  // namespace sextant
