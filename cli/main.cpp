// Parses the command line, runs the chosen command and turns every failure into one line and an exit code.
#include <cstdio>
#include <exception>
#include <memory>
#include <vector>

#include "cli/command.h"
#include "cli/error_of_all_ranks.h"
#include "core/error.h"
#include "core/provenance.h"
#include "probes/comm/communicator.h"
#include "probes/comm/lone_rank.h"

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

// What could not be placed. The "--" before a command is no such word, and where an option's value is wrong
// CLI11 stops before it has placed the rest.
std::vector<std::string> unknown_arguments(const CLI::App* app, const CLI::Error& error) {
  if (error.get_name() == "ValidationError" || error.get_name() == "ConversionError") return {};
  std::vector<std::string> unknown = app->remaining(true);
  std::erase(unknown, "--");
  return unknown;
}

// "sextant: unknown argument --bogus" and the command's usage line. CLI11 itself would name what is missing
// first and not the word that it could not place.
std::string explain_usage(const CLI::App* app, const CLI::Error& error) {
  const std::vector<std::string> unknown = unknown_arguments(app, error);
  const auto chosen = app->get_subcommands();
  const std::string command = chosen.empty() ? "sextant" : "sextant " + chosen.front()->get_name();
  return "sextant: " + (unknown.empty() ? std::string(error.what()) : "unknown argument " + unknown.front()) +
         "\nUsage: " + command + (chosen.empty() ? " SUBCOMMAND" : "") + " [OPTIONS]\nRun " + command +
         " --help for more information.\n";
}

Communicator& joined() {
  if (!session) session = std::make_unique<CommunicatorSession>(nullptr, nullptr);
  return session->world();
}

int run(int argc, char** argv) {
  CLI::App app{
      "Sextant measures a GPU cluster, fits an analytical cost model to measured PPO and GRPO iterations, and\n"
      "plans with the fitted model.\n\n"
      "  sextant quickstart                      the whole loop on this machine, in a few minutes\n"
      "  mpirun -n 2 sextant probe --out cluster.json\n"
      "  sextant plan --cluster cluster.json --workflow workflow.json --coefficients coefficients.json"};
  app.name("sextant");
  app.set_version_flag("--version", current_provenance().tool_version);
  app.require_subcommand(1);
  app.failure_message(explain_usage);
  app.footer("Exit codes: 0 done, 1 the answer is no, 2 bad input or usage, 3 the machine failed.");
  Action action;
  add_probe(app, action);
  add_proxy(app, action);
  add_trace(app, action);
  add_import(app, action);
  add_calibrate(app, action);
  add_accuracy(app, action);
  add_validate(app, action);
  add_predict(app, action);
  add_plan(app, action);
  add_report(app, action);
  add_reproduce(app, action);
  add_export(app, action);
  add_coefficients(app, action);
  add_diff(app, action);
  add_quickstart(app, action);
  add_agent(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // All ranks were given the same words: one says what is wrong with them.
    if (error.get_exit_code() != 0 && joined().rank() != 0) return kBadInput;
    // CLI11's own codes are 100 and up; help and version are successes.
    return app.exit(error) == 0 ? kDone : kBadInput;
  }
  return action();
}

}  // namespace

Communicator& world() {
  if (!session) refuse_lone_rank(joined().size(), process_environment(), transport_description());
  return joined();
}

}  // namespace sextant::cli

int main(int argc, char** argv) {
  using namespace sextant;
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
