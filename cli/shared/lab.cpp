#include "cli/shared/lab.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "core/text.h"
#include "core/this_program.h"
#include "sextant/error.h"

namespace sextant::cli {
namespace {

struct LabCommand {
  const char* name;
  const char* help;
};

constexpr std::array<LabCommand, 2> kLabCommands{{
    {"accuracy", "Recompute the accuracy figures on the public measurements (sextant-lab)"},
    {"reproduce", "Compare experiments of papers under the model with the published numbers (sextant-lab)"},
}};

}  // namespace

bool is_lab_command(std::string_view word) {
  return std::any_of(kLabCommands.begin(), kLabCommands.end(),
                     [&](const LabCommand& command) { return word == command.name; });
}

void add_lab_commands(CommandLine& line) {
  for (const LabCommand& command : kLabCommands) {
    line.add_command(command.name, command.help).runs([name = std::string(command.name)]() -> int {
      run_in_lab({"sextant", name});
    });
  }
}

void run_in_lab(const std::vector<std::string>& words) {
  const auto program = this_program().parent_path() / "sextant-lab";
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execv(program.c_str(), arguments.data());
  throw_bad_input(
      "this command needs the program sextant-lab, which is not installed with releases: there is no " +
      in_quotes(program.string()) + "; build it from the source with -DSEXTANT_LAB=ON");
}

}  // namespace sextant::cli
