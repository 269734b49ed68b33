// sextant agent: what `sextant probe --hosts` starts on each host. Not for people, so not in the help.
#include <filesystem>

#include "cli/shared/command.h"
#include "core/this_program.h"
#include "probes/fleet/agent.h"

namespace sextant::cli {

void add_agent(CommandLine& line) {
  const Command command = line.add_command("agent", "The probe on one host of many, started by probe --hosts");
  command.hide();
  command.runs([]() -> int {
    const std::string self = this_program().string();
    run_agent({{self, "probe", "--json"}});
  });
}

}  // namespace sextant::cli
