// The answers of an agent, from two threads, each line atomic.
#pragma once

#include <mutex>
#include <string>

#include "core/json_value.h"
#include "probes/network/socket.h"

namespace sextant::inline probes {

// No thread waits for a coordinator that does not read: the thread that monitors the coordinator writes as much
// as its pipe takes.
class Answers {
 public:
  Answers();

  // May be called from any thread; never waits.
  void give(const Json& answer);

  // Waits for input, for queued answers and for the pipe, and writes them.
  struct Heard {
    bool has_input = false;
    bool is_listened_to = true;  // false: standard output is closed at the other end
  };
  [[nodiscard]] Heard attend(const Deadline& until);

  // Writes the last answers, as far as they are read in time.
  void finish(double limit_s);

 private:
  [[nodiscard]] bool has_more();
  [[nodiscard]] bool say_some();

  Descriptor wake_;
  std::mutex mutex_;  // guards all members below
  std::string unsaid_;
  std::size_t said_ = 0;  // bytes written of it
};

}  // namespace sextant::inline probes
