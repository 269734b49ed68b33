#include "probes/fleet/device_probe.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "probes/fleet/child_process.h"
#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

// A pipe of which a child inherits the end that is written to.
struct SamplesPipe {
  Descriptor read, write;

  SamplesPipe() {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) throw_machine_failed("out of file descriptors (ulimit -n)");
    read = Descriptor(ends[0]);
    write = Descriptor(ends[1]);
    static_cast<void>(fcntl(ends[0], F_SETFD, FD_CLOEXEC));
    static_cast<void>(fcntl(ends[0], F_SETFL, O_NONBLOCK));
  }
  // The name by which a child opens the pipe.
  [[nodiscard]] std::string name() const { return "/proc/self/fd/" + std::to_string(write.number()); }
};

// The output of the device probe, and its samples through a pipe, because no file is written.
struct Told {
  std::string cluster, samples;
};

Told listen_to(ChildProcess& child, Descriptor& samples, const Deadline& deadline) {
  Told told;
  // Something that it started may still hold the pipe when it has ended.
  while (!child.is_silent() || (samples.is_open() && child.how_it_ended().empty())) {
    if (deadline.is_over()) throw_machine_failed("the device probe exceeded its time limit");
    // A negative number is left out by poll.
    std::array<pollfd, 3> ends{{{child.output().number(), POLLIN, 0},
                                {child.errors().number(), POLLIN, 0},
                                {samples.number(), POLLIN, 0}}};
    static_cast<void>(poll(ends.data(), ends.size(), deadline.left_ms()));
    for (const std::string& line : child.hear()) told.cluster += line + "\n";
    drain(samples, told.samples, kMaxLine);
  }
  drain(samples, told.samples, kMaxLine);
  return told;
}

}  // namespace

DeviceReport probe_devices(std::vector<std::string> probe, const DevicesCommand& command) {
  SamplesPipe samples;
  probe.insert(probe.end(), command.options.begin(), command.options.end());
  probe.insert(probe.end(), {"--samples", samples.name()});
  ChildProcess child(probe);
  child.close_input();
  samples.write.close();
  const Deadline deadline = Deadline::in(command.limit_s);
  const Told told = listen_to(child, samples.read, deadline);
  while (child.how_it_ended().empty() && !deadline.is_over()) std::this_thread::yield();
  if (child.exit_code() != 0) {
    throw_machine_failed("the device probe " + child.how_it_ended() + ": " + child.last_words());
  }
  return read_device_report(told.cluster, told.samples, kMaxLine / 2);
}

}  // namespace sextant::inline probes
