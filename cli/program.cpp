#include "cli/program.h"

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <thread>
#include <vector>

#include "cli/probe/error_of_all_ranks.h"
#include "cli/shared/command.h"
#include "cli/shared/output_file.h"
#include "core/text.h"
#include "probes/comm/communicator.h"
#include "probes/comm/lone_rank.h"
#include "probes/host/blas.h"
#include "sextant/error.h"
#include "sextant/provenance.h"

namespace sextant::cli {

void print_line(const std::string& line) { std::printf("%s\n", line.c_str()); }

void say_wrote(const std::string& file) {
  std::fflush(stdout);  // in one pipe this line would land inside an earlier one
  std::fprintf(stderr, "wrote %s\n", printable(file).c_str());
}

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

// It outlives every command, so that a failure is reported before the other ranks end.
std::unique_ptr<CommunicatorSession> session;

// A launcher that is told to end the job may drop what it has not read from a rank's pipe: the reason would be lost.
void wait_until_read(int descriptor) {
  struct stat status = {};
  if (fstat(descriptor, &status) != 0 || !S_ISFIFO(status.st_mode)) return;
  constexpr int kMaxWaits = 100;
  int unread = 0;
  for (int i = 0; i < kMaxWaits && ioctl(descriptor, FIONREAD, &unread) == 0 && unread > 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

int fail(const std::string& message, int exit_code) {
  std::fflush(stdout);
  const bool of_several = session && session->world().size() > 1;
  const std::string rank = of_several ? " [rank " + std::to_string(session->world().rank()) + "]" : "";
  std::fprintf(stderr, "sextant%s: %s\n", rank.c_str(), printable_lines(message).c_str());
  if (of_several) wait_until_read(STDERR_FILENO);
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

std::string file_name_of(const char* path) { return std::filesystem::path(path).filename().string(); }

// Not in jobs of several processes: only the host of the first rank needs the folders, which process that is only
// MPI knows, and a traced program starts MPI itself.
void check_outputs(const CommandLine& line) {
  const std::vector<OutputPath> outputs = line.given_outputs();
  if (outputs.empty() || !proof_of_other_ranks(process_environment()).empty()) return;
  for (const OutputPath& output : outputs) {
    if (output.is_folder) make_folder(*output.path);
  }
  for (const OutputPath& output : outputs) {
    if (!output.is_folder) require_writable(output.option.name(), *output.path);
  }
}

int run_command(const Program& program, int argc, char** argv) {
  CommandLine line(file_name_of(argv[0]), program.description, current_provenance().tool_version,
                   "Exit codes: 0 done, 1 the answer is no, 2 bad input or usage, 3 the machine failed.");
  for (const auto add_command : program.commands) add_command(line);
  if (line.parse(argc, argv)) {
    check_outputs(line);
    return line.run();
  }
  // All ranks were given the same words: one says what is wrong with them.
  if (!line.is_wrong() || joined().rank() == 0) line.say();
  return line.is_wrong() ? kBadInput : kDone;
}

}  // namespace

Communicator& world() {
  if (!session) refuse_lone_rank(joined().size(), process_environment(), transport_description());
  return joined();
}

int run_program(const Program& program, int argc, char** argv) {
  end_waiting_blas_threads();
  command_line().assign(argv, argv + argc);
  set_command_line(argc, argv);
  try {
    const int code = run_command(program, argc, argv);
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
    return fail(std::string("cannot write to the standard output: ") + std::strerror(errno), kMachineFailed);
  } catch (const ErrorOfAllRanks& error) {
    return fail_alike(error);
  } catch (const Error& error) {
    return fail(error.what(), exit_code_of(error));
  } catch (const std::bad_alloc&) {
    return fail("out of memory", kMachineFailed);
  } catch (const std::exception& error) {
    return fail(std::string("unexpected: ") + error.what(), kMachineFailed);
  }
}

}  // namespace sextant::cli
