// The program `sextant-lab`: how good Sextant is, shown with the data of this repository.
#include "cli/program.h"
#include "lab/cli/lab_commands.h"

int main(int argc, char** argv) {
  using namespace sextant;
  return cli::run_program({"The lab recomputes the accuracy figures of this repository, runs the experiments "
                           "of papers under the model, and\n"
                           "compares priors with measured tables.",
                           {cli::add_accuracy, cli::add_reproduce, cli::add_evidence, cli::add_schemas}},
                          argc, argv);
}
