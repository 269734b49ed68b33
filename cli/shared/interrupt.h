// Ctrl-C as a flag, for commands that have results to show before their end.
#pragma once

#include <atomic>
#include <csignal>

namespace sextant::cli {

// While it lives, the first SIGINT, SIGTERM or SIGHUP (a closed terminal; unless nohup ignores it) sets the
// flag and the second one ends the program as usual. Only one may exist at a time.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  [[nodiscard]] const std::atomic<bool>& flag() const;
  [[nodiscard]] bool came() const { return flag().load(); }

 private:
  struct sigaction interrupt_ = {}, terminate_ = {}, hang_up_ = {};  // the previous handlers
};

}  // namespace sextant::cli
