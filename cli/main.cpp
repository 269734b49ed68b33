// Parses the command line, runs the chosen command and turns every failure into one line and an exit code.
#include <cstdio>
#include <exception>
#include <memory>
#include <vector>

#include "cli/probe/error_of_all_ranks.h"
#include "cli/shared/command.h"
#include "core/error.h"
#include "core/provenance.h"
#include "probes/comm/communicator.h"
#include "probes/comm/lone_rank.h"
#include "probes/host/blas.h"

namespace sextant::cli {

void print_line(const std::string& line) { std::printf("%s\n", line.c_str()); }

void say_wrote(const std::string& file) { std::fprintf(stderr, "wrote %s\n", file.c_str()); }

namespace {

std::vector<const char*>& command_line() {
  static std::vector<const char*> line;
  return line;
}

}  // namespace

void add_to_command_line(const std::vector<std::string>& arguments) {
  std::vector<const char*> line = command_line();
  for (const std::string& argument : arguments) line.push_back(argument.c_str());
  set_command_line(static_cast<int>(line.size()), line.data());
}

namespace {

std::unique_ptr<CommunicatorSession>
    session;  // outlives every command, so that failures are told before ranks end

int fail(const std::string& message, int exit_code) {
  std::fflush(stdout);
  const bool of_several = session && session->world().size() > 1;
  const std::string rank = of_several ? " [rank " + std::to_string(session->world().rank()) + "]" : "";
  std::fprintf(stderr, "sextant%s: %s\n", rank.c_str(), message.c_str());
  // A rank that leaves alone would keep the others waiting for ever.
  abort_all_ranks(exit_code);
  return exit_code;
}

int exit_code_of(const Error& error) {
  return error.kind() == ErrorKind::bad_input ? kBadInput : kMachineFailed;
}

// The others wait for rank 0's word until it ends the job.
int fail_alike(const ErrorOfAllRanks& error) {
  if (session && session->world().rank() != 0) return exit_code_of(error);
  return fail(error.what(), exit_code_of(error));
}

Communicator& joined() {
  if (!session) session = std::make_unique<CommunicatorSession>(nullptr, nullptr);
  return session->world();
}

int run(int argc, char** argv) {
  CommandLine line(
      "sextant",
      "Sextant measures a GPU cluster, fits an analytical cost model to measured PPO and GRPO iterations, and\n"
      "plans with the fitted model.\n\n"
      "  sextant quickstart                      the whole loop on this machine, in a few minutes\n"
      "  mpirun -n 2 sextant probe --out cluster.json\n"
      "  sextant plan --cluster cluster.json --workflow workflow.json --coefficients coefficients.json",
      current_provenance().tool_version,
      "Exit codes: 0 done, 1 the answer is no, 2 bad input or usage, 3 the machine failed.");
  add_probe(line);
  add_proxy(line);
  add_trace(line);
  add_import(line);
  add_calibrate(line);
  add_accuracy(line);
  add_validate(line);
  add_predict(line);
  add_plan(line);
  add_report(line);
  add_reproduce(line);
  add_export(line);
  add_coefficients(line);
  add_diff(line);
  add_quickstart(line);
  add_agent(line);
  if (line.parse(argc, argv)) return line.run();
  // All ranks were given the same words: one says what is wrong with them.
  if (!line.is_wrong() || joined().rank() == 0) line.say();
  return line.is_wrong() ? kBadInput : kDone;
}

}  // namespace

Communicator& world() {
  if (!session) refuse_lone_rank(joined().size(), process_environment(), transport_description());
  return joined();
}

}  // namespace sextant::cli

int main(int argc, char** argv) {
  using namespace sextant;
  end_waiting_blas_threads();
  cli::command_line().assign(argv, argv + argc);
  set_command_line(argc, argv);
  try {
    return cli::run(argc, argv);
  } catch (const cli::ErrorOfAllRanks& error) {
    return cli::fail_alike(error);
  } catch (const Error& error) {
    return cli::fail(error.what(), cli::exit_code_of(error));
  } catch (const std::bad_alloc&) {
    return cli::fail("out of memory", cli::kMachineFailed);
  } catch (const std::exception& error) {
    return cli::fail(std::string("unexpected: ") + error.what(), cli::kMachineFailed);
  }
}
