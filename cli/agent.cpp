// sextant agent: what `sextant probe --hosts` starts on each host. Not for people, so not in the help.
#include <filesystem>

#include "cli/command.h"
#include "probes/fleet/agent.h"

namespace sextant::cli {

void add_agent(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("agent", "The probe on one host of many, started by probe --hosts");
  command->group("");
  command->callback([&action] {
    action = []() -> int {
      const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
      run_agent({{self, "probe", "--json"}});
    };
  });
}

}  // namespace sextant::cli
