// A program that is talked to line by line: ssh, srun, or this program itself. Nothing here waits.
#pragma once

#include <sys/types.h>
#include <string>
#include <vector>

#include "probes/network/socket.h"

namespace sextant {

inline constexpr std::size_t kMaxLine = std::size_t{64}
                                        << 20;  // characters that are kept of one without an end

// Appends what is there, and keeps the last `most` characters; closes the end when nothing more will come. At
// most a megabyte a call, so that one that never stops talking keeps nobody from the others.
void drain(Descriptor& end, std::string& text, std::size_t maximum);

// As many as this process may have: each child takes three, and a shell's usual limit is 1024.
void raise_descriptor_limit();

class ChildProcess {
 public:
  // Starts it in a process group of its own, so that a Ctrl-C on the terminal is not for it; it gets SIGTERM
  // when this thread ends, however that happens. Error(machine) when there is no such program.
  explicit ChildProcess(const std::vector<std::string>& command);
  // Kills the whole group.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Whatever does not fit the pipe goes with the next call.
  void say(const std::string& line);
  void flush();
  [[nodiscard]] bool has_more_to_say() const { return !unsaid_.empty(); }
  void close_input() { input_.close(); }

  // Takes what has come. Whole lines only; the last one, without its end, when the output is closed.
  [[nodiscard]] std::vector<std::string> hear();
  // Its output is closed: nothing more will come.
  [[nodiscard]] bool is_silent() const { return !output_.is_open(); }
  // The end of what it wrote to stderr, in one line.
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

}  // namespace sextant
