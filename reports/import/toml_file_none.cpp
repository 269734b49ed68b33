#include "reports/import/toml_file.h"
#include "sextant/error.h"

namespace sextant::inline reports {

void read_toml_file(const std::filesystem::path& file, TrainerSettings& settings) {
  static_cast<void>(settings);
  throw_bad_input(file.string() +
                  ": this build reads no TOML (install libtomlplusplus-dev and configure again)");
}

bool has_toml() { return false; }

}  // namespace sextant::inline reports
