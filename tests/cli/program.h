// Runs the sextant program as a person or a script would, and keeps what it printed.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

namespace sextant::test {

struct Printed {
  int exit_code = 0;  // 128 + signal when it was killed
  std::string out;    // stdout
  std::string err;    // stderr
};

// Runs `sextant arguments...` on one rank, with stdout and stderr each in a pipe. A program that runs for
// longer than two minutes is ended, which fails the test. So does a carriage return or an escape code in its
// output: neither belongs in a pipe.
[[nodiscard]] Printed run_sextant(const std::vector<std::string>& arguments);

// Like run_sextant, with a SIGINT once it handles one and has worked for `cpu_s` seconds.
[[nodiscard]] Printed interrupt_sextant(const std::vector<std::string>& arguments, double cpu_s);

// Like run_sextant on several ranks, by the MPI launcher.
[[nodiscard]] Printed run_on_ranks(int ranks, const std::vector<std::string>& arguments);

// Like run_on_ranks, with one rank per host name. `meanwhile` gets the launcher.
[[nodiscard]] Printed run_on_hosts(const std::vector<std::string>& hosts,
                                   const std::vector<std::string>& arguments,
                                   const std::function<void(pid_t launcher)>& meanwhile = {});

// Waits until the file contains this text; returns false, which fails the test, after a minute.
bool wait_for_text(const std::string& file, const std::string& text);

// Returns the process of the rank that run_on_hosts started for this host below `launcher`.
[[nodiscard]] pid_t process_of_host(pid_t launcher, const std::string& host);

// A variable that is set, while this object lives, for the programs that are run.
class EnvironmentVariable {
 public:
  EnvironmentVariable(const std::string& name, const std::string& value);
  ~EnvironmentVariable();
  EnvironmentVariable(const EnvironmentVariable&) = delete;
  EnvironmentVariable& operator=(const EnvironmentVariable&) = delete;

 private:
  std::string name_;
};

[[nodiscard]] std::vector<std::string> lines_of(const std::string& text);

}  // namespace sextant::test
