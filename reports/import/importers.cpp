#include "reports/import/importers.h"

#include <algorithm>
#include <array>

#include "reports/export/trainers/dialects.h"

namespace sextant::inline reports {

std::span<const Importer> importer_table() {
  static const std::array kTable{verl_importer(),  nemo_rl_importer(), openrlhf_importer(), slime_importer(),
                                 miles_importer(), areal_importer(),   roll_importer(),     trl_importer(),
                                 skyrl_importer(), prime_rl_importer()};
  return kTable;
}

const Importer* find_importer(std::string_view family) {
  const std::span<const Importer> table = importer_table();
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const Importer& one) { return one.family == family; });
  return found == table.end() ? nullptr : &*found;
}

const Dialect* find_plan_reader(std::string_view profile) {
  static const std::array kReadOnly{prime_rl_reader()};
  const auto found = std::find_if(kReadOnly.begin(), kReadOnly.end(),
                                  [&](const Dialect& one) { return one.profile == profile; });
  return found == kReadOnly.end() ? find_dialect(profile) : &*found;
}

}  // namespace sextant::inline reports
