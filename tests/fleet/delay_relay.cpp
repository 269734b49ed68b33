// Two Ethernet segments a long way apart: frames that arrive on one come out on the other after a delay, with
// jitter and loss. For kernels without netem, and the same everywhere.
//
//   delay_relay NETNS_A TAP_A NETNS_B TAP_B DELAY_MS JITTER_MS LOSS_PERCENT
//
// Makes a TAP device in each network namespace (whoever started it puts them on bridges), says "ready" and runs
// until it is killed. The order of frames is kept, as a path's usually is. Pseudo-random, always the same.
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <random>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void fail(const std::string& what) {
  std::perror(what.c_str());
  std::exit(EXIT_FAILURE);
}

int tap_in(const std::string& netns, const std::string& name) {
  const int space = open(("/run/netns/" + netns).c_str(), O_RDONLY | O_CLOEXEC);
  if (space < 0 || setns(space, CLONE_NEWNET) != 0) fail(netns);
  close(space);
  const int tap = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (tap < 0) fail("/dev/net/tun");
  ifreq request{};
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  std::strncpy(request.ifr_name, name.c_str(), IFNAMSIZ - 1);
  if (ioctl(tap, TUNSETIFF, &request) != 0) fail(name);
  return tap;
}

struct Frame {
  Clock::time_point due;
  std::vector<char> bytes;
};

class Path {
 public:
  Path(int from, int to, double delay_ms, double jitter_ms, double loss_percent, unsigned seed)
      : from_(from),
        to_(to),
        delay_ms_(delay_ms),
        jitter_ms_(jitter_ms),
        loss_(loss_percent / 100),
        random_(seed) {}

  void take() {
    std::array<char, 65536> buffer{};
    for (ssize_t size = read(from_, buffer.data(), buffer.size()); size > 0;
         size = read(from_, buffer.data(), buffer.size())) {
      if (uniform_(random_) < loss_) continue;
      const double ms = delay_ms_ + jitter_ms_ * uniform_(random_);
      Clock::time_point due = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                 std::chrono::duration<double, std::milli>(ms));
      if (!frames_.empty()) due = std::max(due, frames_.back().due);
      frames_.push_back({due, {buffer.data(), buffer.data() + size}});
    }
  }

  void give() {
    while (!frames_.empty() && frames_.front().due <= Clock::now()) {
      // A frame that cannot be delivered is lost, as on any network.
      static_cast<void>(write(to_, frames_.front().bytes.data(), frames_.front().bytes.size()) < 0);
      frames_.pop_front();
    }
  }

  [[nodiscard]] Clock::time_point next() const {
    return frames_.empty() ? Clock::now() + std::chrono::seconds(1) : frames_.front().due;
  }

 private:
  int from_, to_;
  double delay_ms_, jitter_ms_, loss_;
  std::mt19937 random_;
  std::uniform_real_distribution<double> uniform_{0, 1};
  std::deque<Frame> frames_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 8) return EXIT_FAILURE;
  const int a = tap_in(argv[1], argv[2]), b = tap_in(argv[3], argv[4]);
  const double delay_ms = std::atof(argv[5]), jitter_ms = std::atof(argv[6]), loss = std::atof(argv[7]);
  Path there(a, b, delay_ms, jitter_ms, loss, 1), back(b, a, delay_ms, jitter_ms, loss, 2);
  std::puts("ready");
  std::fflush(stdout);
  while (true) {
    const auto wait = std::max(Clock::duration::zero(), std::min(there.next(), back.next()) - Clock::now());
    const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(wait).count();
    const timespec timeout{ns / 1'000'000'000, ns % 1'000'000'000};
    std::array<pollfd, 2> ends{{{a, POLLIN, 0}, {b, POLLIN, 0}}};
    ppoll(ends.data(), ends.size(), &timeout, nullptr);
    there.take();
    back.take();
    there.give();
    back.give();
  }
}
