// What an agent says, by two threads, each line whole.
#pragma once

#include <mutex>
#include <string>

#include "core/json_value.h"
#include "probes/network/socket.h"

namespace sextant {

// Nobody waits for a coordinator that does not listen: the thread that watches whether it is still there writes
// what its pipe takes.
class Answers {
 public:
  Answers();

  // From any thread; never waits.
  void give(const Json& answer);

  // Waits for input, for what is to be said and to be able to say it, and says it.
  struct Heard {
    bool has_input = false;
    bool is_listened_to = true;  // false: nobody reads standard output any more
  };
  [[nodiscard]] Heard attend(const Deadline& until);

  // The last words, as far as they are heard in time.
  void finish(double limit_s);

 private:
  [[nodiscard]] bool has_more();
  [[nodiscard]] bool say_some();

  Descriptor wake_;
  std::mutex mutex_;  // of all that follows
  std::string unsaid_;
  std::size_t said_ = 0;  // bytes of it
};

}  // namespace sextant
