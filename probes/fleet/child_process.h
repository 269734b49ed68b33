// A child program with line-based input and output: ssh, srun, or this program itself. No function here waits.
#pragma once

#include <sys/types.h>
#include <string>
#include <vector>

#include "probes/network/socket.h"

namespace sextant::inline probes {

inline constexpr std::size_t kMaxLine = std::size_t{64}
                                        << 20;  // the number of characters kept of an unfinished line

// Appends the available text, and keeps the last `maximum` characters; closes the end at its end of file. Reads
// at most a megabyte per call, so that a busy child does not starve the others.
void drain(Descriptor& end, std::string& text, std::size_t maximum);

// Raises the limit to this process's maximum: each child takes three, and a shell's usual limit is 1024.
void raise_descriptor_limit();

class ChildProcess {
 public:
  // Starts it in a process group of its own, so that a Ctrl-C on the terminal does not reach it; it gets
  // SIGTERM when this thread ends, for any reason. Throws Error(machine) if there is no such program.
  explicit ChildProcess(const std::vector<std::string>& command);
  // Kills the whole process group.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Text that does not fit the pipe is sent with the next call.
  void say(const std::string& line);
  void flush();
  [[nodiscard]] bool has_more_to_say() const { return !unsaid_.empty(); }
  void close_input() { input_.close(); }

  // Returns the complete lines that have arrived; the last one, without its end, once the output is closed.
  [[nodiscard]] std::vector<std::string> hear();
  // Whether its output is closed: no more lines will come.
  [[nodiscard]] bool is_silent() const { return !output_.is_open(); }
  // Returns the end of its stderr, in one line.
  [[nodiscard]] std::string last_words() const;
  // "ended with exit code 255", "was ended by signal 9", "" while it runs.
  [[nodiscard]] std::string how_it_ended();
  [[nodiscard]] int exit_code();  // -1 while it runs or when a signal ended it

  [[nodiscard]] const Descriptor& input() const { return input_; }
  [[nodiscard]] const Descriptor& output() const { return output_; }
  [[nodiscard]] const Descriptor& errors() const { return errors_; }
  void kill();

 private:
  void reap();

  pid_t id_ = -1;
  bool has_ended_ = false;
  int status_ = 0;
  Descriptor input_, output_, errors_;
  std::string unsaid_;
  std::string heard_;  // no whole line yet
  std::string complaints_;
};

}  // namespace sextant::inline probes
