#include "probes/fleet/answers.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <string_view>

#include "probes/fleet/messages.h"
#include "sextant/error.h"

namespace sextant::inline probes {

Answers::Answers() : wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!wake_.is_open()) throw_machine_failed("out of file descriptors (ulimit -n)");
}

void Answers::give(const Json& answer) {
  {
    const std::lock_guard lock(mutex_);
    unsaid_ += compact(answer) + "\n";
  }
  const std::uint64_t one = 1;
  static_cast<void>(write(wake_.number(), &one, sizeof one) == sizeof one);
}

Answers::Heard Answers::attend(const Deadline& until) {
  const int output = has_more() ? STDOUT_FILENO : -1;  // poll leaves out what is negative
  std::array<pollfd, 3> ends{{{STDIN_FILENO, POLLIN, 0}, {wake_.number(), POLLIN, 0}, {output, POLLOUT, 0}}};
  if (poll(ends.data(), ends.size(), until.left_ms()) <= 0) return {};
  std::uint64_t woken = 0;
  static_cast<void>(read(wake_.number(), &woken, sizeof woken) == sizeof woken);
  Heard heard;
  heard.has_input = ends[0].revents != 0;
  if (ends[2].revents != 0) heard.is_listened_to = say_some();
  return heard;
}

void Answers::finish(double limit_s) {
  const Deadline end = Deadline::in(limit_s);
  while (has_more() && !end.is_over()) {
    pollfd output{STDOUT_FILENO, POLLOUT, 0};
    if (poll(&output, 1, end.left_ms()) > 0 && !say_some()) return;
  }
}

bool Answers::has_more() {
  const std::lock_guard lock(mutex_);
  return !unsaid_.empty();
}

// A pipe that is ready takes so much without waiting. False when nobody listens any more.
bool Answers::say_some() {
  const std::lock_guard lock(mutex_);
  const std::string_view rest = std::string_view(unsaid_).substr(said_);
  const ssize_t count = write(STDOUT_FILENO, rest.data(), std::min<std::size_t>(rest.size(), PIPE_BUF));
  if (count < 0) return false;
  said_ += static_cast<std::size_t>(count);
  if (said_ < unsaid_.size()) return true;
  unsaid_.clear();
  said_ = 0;
  return true;
}

}  // namespace sextant::inline probes
