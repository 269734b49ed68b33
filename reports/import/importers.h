// All importers of configurations.
#pragma once

#include <span>
#include <string_view>

#include "reports/export/trainers/dialect.h"
#include "reports/import/importer.h"

namespace sextant::inline reports {

[[nodiscard]] std::span<const Importer> importer_table();
[[nodiscard]] const Importer* find_importer(std::string_view family);  // null: there is none

// The reader of plans for a profile: its Dialect, or that of a framework which is read and not written, with only the
// members `family`, `profile`, `form` and `read`. Null: there is none.
[[nodiscard]] const Dialect* find_plan_reader(std::string_view profile);
[[nodiscard]] Dialect prime_rl_reader();

// Rows of the table.
[[nodiscard]] Importer verl_importer();
[[nodiscard]] Importer nemo_rl_importer();
[[nodiscard]] Importer openrlhf_importer();
[[nodiscard]] Importer slime_importer();
[[nodiscard]] Importer miles_importer();
[[nodiscard]] Importer areal_importer();
[[nodiscard]] Importer roll_importer();
[[nodiscard]] Importer trl_importer();
[[nodiscard]] Importer skyrl_importer();
[[nodiscard]] Importer prime_rl_importer();

}  // namespace sextant::inline reports
