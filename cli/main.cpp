// The program `sextant`. Commands of the lab are started in the program `sextant-lab` beside it.
#include <cstdio>

#include "cli/program.h"
#include "cli/shared/command.h"
#include "cli/shared/exit_codes.h"
#include "cli/shared/lab.h"
#include "sextant/error.h"

int main(int argc, char** argv) {
  using namespace sextant;
  if (argc > 1 && cli::is_lab_command(argv[1])) {
    try {
      cli::run_in_lab({argv, argv + argc});
    } catch (const Error& error) {
      std::fprintf(stderr, "sextant: %s\n", error.what());
      return cli::kBadInput;
    }
  }
  return cli::run_program(
      {"Sextant measures a GPU cluster, fits an analytical cost model to measured PPO and GRPO iterations, "
       "and\n"
       "plans with the fitted model.\n\n"
       "  sextant plan --gpus 4x8xH100 --model Qwen3-14B --framework verl --out plan.json\n"
       "  sextant export plan.json --gpus 4x8xH100 --model Qwen3-14B --to verl --out train.sh\n"
       "  mpirun -n 2 sextant probe --out cluster.json    # then --cluster cluster.json in place of --gpus\n"
       "  sextant quickstart                              # the whole loop on this machine, in a few minutes",
       {cli::add_probe,       cli::add_proxy,   cli::add_trace,        cli::add_import,     cli::add_calibrate,
        cli::add_validate,    cli::add_predict, cli::add_plan,         cli::add_coschedule, cli::add_check,
        cli::add_report,      cli::add_export,  cli::add_coefficients, cli::add_compare,    cli::add_diff,
        cli::add_init,        cli::add_list,    cli::add_quickstart,   cli::add_agent,      cli::add_completion,
        cli::add_lab_commands}},
      argc, argv);
}
