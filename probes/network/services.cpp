#include "probes/network/services.h"

#include <poll.h>

#include <chrono>
#include <vector>

#include "probes/harness/random_data.h"
#include "probes/network/datagrams.h"
#include "probes/network/wire.h"

namespace sextant::inline probes {
namespace {

constexpr double kReportEvery_s = 0.005;

template <typename Clock>
std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count());
}

void echo(const Descriptor& socket, const Deadline& deadline) {
  std::array<std::byte, kEchoBytes> message{};
  while (true) {
    receive_all(socket, message, deadline);
    store_number(std::span(message).subspan(16, 8), wall_clock_ns());
    store_number(std::span(message).subspan(24, 8), wall_clock_ns());
    send_all(socket, message, deadline);
  }
}

void report(const Descriptor& socket, std::uint64_t taken, const Deadline& deadline) {
  std::array<std::byte, kReportBytes> record{};
  store_number(std::span(record).first(8), steady_clock_ns());
  store_number(std::span(record).last(8), taken);
  send_all(socket, record, deadline);
}

void take(const Descriptor& socket, const Deadline& deadline) {
  std::vector<std::byte> chunk(kChunkBytes);
  std::uint64_t taken = 0;
  Deadline next = Deadline::in(kReportEvery_s);
  while (!deadline.is_over()) {
    if (const auto received = receive_some(socket, chunk)) {
      if (*received == 0) return;
      taken += *received;
    } else {
      static_cast<void>(wait_until_readable(socket, std::min(next, deadline)));
    }
    if (!next.is_over()) continue;
    report(socket, taken, deadline);
    next = Deadline::in(kReportEvery_s);
  }
}

void give(const Descriptor& socket, const Deadline& deadline) {
  const std::span<const std::byte> chunk = random_chunk();
  drop_unsent_when_closed(socket);
  while (!deadline.is_over()) send_all(socket, chunk, deadline);
}

}  // namespace

std::span<const std::byte> random_chunk() {
  static const std::vector<std::uint64_t> numbers = [] {
    std::vector<std::uint64_t> filled(kChunkBytes / sizeof(std::uint64_t));
    RandomStream random(1);
    for (std::uint64_t& number : filled) number = random.next();
    return filled;
  }();
  return std::as_bytes(std::span(numbers));
}

std::uint64_t wall_clock_ns() { return now_ns<std::chrono::system_clock>(); }
std::uint64_t steady_clock_ns() { return now_ns<std::chrono::steady_clock>(); }

void serve(const Connection& connection, const Request& request) { serve_on({}, connection, request); }

void serve_on(const PortRange& datagram_ports, const Connection& connection, const Request& request) {
  const Deadline deadline = Deadline::in(request.limit_s);
  switch (request.service) {
    case Service::echo:
      return echo(connection.socket, deadline);
    case Service::take:
      return take(connection.socket, deadline);
    case Service::give:
      return give(connection.socket, deadline);
    case Service::permits:
      return;
    case Service::datagrams:
      return answer_datagrams(connection, deadline, datagram_ports);
  }
}

}  // namespace sextant::inline probes
