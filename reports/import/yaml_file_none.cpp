#include "reports/import/yaml_file.h"
#include "sextant/error.h"

namespace sextant::inline reports {

void read_yaml_file(const std::filesystem::path& file, TrainerSettings& settings) {
  read_yaml_text("", file.string(), 1, settings);
}

void read_yaml_text(const std::string& text, const std::string& file, int first_line,
                    TrainerSettings& settings) {
  static_cast<void>(text);
  static_cast<void>(first_line);
  static_cast<void>(settings);
  throw_bad_input(file + ": this build reads no YAML (install libyaml-cpp-dev and configure again)");
}

bool has_yaml() { return false; }

}  // namespace sextant::inline reports
