#include "probes/network/datagrams.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <unordered_set>

#include "probes/network/services.h"
#include "probes/network/wire.h"
#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

// Number, sent, received, sent back (8 bytes each) and a tag of 16.
constexpr std::size_t kNumbers = 4;
constexpr std::size_t kTagBytes = 16;
constexpr std::size_t kDatagramBytes = 8 * kNumbers + kTagBytes;
constexpr double kLastOnes_s = 1;  // how long what is still under way is waited for
constexpr double kRoundTrips = 6;  // of connecting, and of agreeing when to begin and that it is over
constexpr double kSpare_s = 10;

using Datagram = std::array<std::byte, kDatagramBytes>;

std::span<std::byte> number_in(Datagram& datagram, std::size_t i) {
  return std::span(datagram).subspan(8 * i, 8);
}

void sign(Datagram& datagram, const Secret& key, std::string_view who) {
  const auto numbers = std::span<const std::byte>(datagram).first(8 * kNumbers);
  const Mac mac = key.sign({bytes_of(who), numbers});
  std::copy_n(mac.begin(), kTagBytes, datagram.end() - kTagBytes);
}

bool is_signed(Datagram datagram, const Secret& key, std::string_view who) {
  const Datagram received = datagram;
  sign(datagram, key, who);
  return is_equal(received, datagram);
}

constexpr std::string_view kThere = "there";
constexpr std::string_view kBack = "back";

// False when it could not go; a full buffer or a port nobody listens on any more is a lost datagram.
bool send_datagram(const Descriptor& socket, const Datagram& datagram) {
  try {
    return send_some(socket, datagram) == kDatagramBytes;
  } catch (const Error&) {
    return false;
  }
}

std::optional<Datagram> receive_datagram(const Descriptor& socket) {
  Datagram datagram{};
  try {
    if (receive_some(socket, datagram) == kDatagramBytes) return datagram;
  } catch (const Error&) {  // an ICMP message about an earlier one
  }
  return std::nullopt;
}

// Two sockets: whether either has something.
struct Ready {
  bool stream = false;
  bool datagrams = false;
};

Ready wait_for_either(const Descriptor& stream, const Descriptor& datagrams, const Deadline& until) {
  std::array<pollfd, 2> entries{{{stream.number(), POLLIN, 0}, {datagrams.number(), POLLIN, 0}}};
  static_cast<void>(poll(entries.data(), entries.size(), until.left_ms()));
  return {entries[0].revents != 0, entries[1].revents != 0};
}

void send_number(const Descriptor& stream, std::uint64_t number, const Deadline& deadline) {
  std::array<std::byte, 8> bytes{};
  store_number(bytes, number);
  send_all(stream, bytes, deadline);
}

std::uint64_t receive_number(const Descriptor& stream, const Deadline& deadline) {
  std::array<std::byte, 8> bytes{};
  receive_all(stream, bytes, deadline);
  return load_number(bytes);
}

// A firewall may let in the ports of the range alone; the other end may be on this host and have them all.
Descriptor own_socket(const Connection& connection, const PortRange& ports) {
  try {
    return datagram_socket_beside(connection.socket, ports);
  } catch (const Error&) {
    return datagram_socket_beside(connection.socket);
  }
}

class DatagramRun {
 public:
  DatagramRun(const Connection& connection, const DatagramOptions& options, const Deadline& deadline)
      : connection_(connection),
        options_(options),
        deadline_(deadline),
        socket_(own_socket(connection, options.ports)) {
    send_number(connection.socket, port_of(socket_), deadline);
    const std::uint64_t port = receive_number(connection.socket, deadline);
    aim_at(socket_, connection.socket, static_cast<std::uint16_t>(port));
  }

  DatagramOutcome run() {
    const Deadline end = deadline_.or_in(options_.seconds);
    while (!end.is_over()) {
      send_one();
      const Deadline next = end.or_in(options_.every_s);
      while (!next.is_over()) hear(next);
    }
    const Deadline last = deadline_.or_in(kLastOnes_s);
    while (returned_.size() < static_cast<std::size_t>(sent_) && !last.is_over()) hear(last);
    if (returned_.empty()) {
      return {std::nullopt,
              "none of " + std::to_string(sent_) + " datagrams came back: UDP is most likely not let through"};
    }
    return {summarise(sent_, arrived(), returned_), ""};
  }

 private:
  void send_one() {
    Datagram datagram{};
    store_number(number_in(datagram, 0), static_cast<std::uint64_t>(sent_));
    store_number(number_in(datagram, 1), wall_clock_ns());
    sign(datagram, connection_.key, kThere);
    static_cast<void>(send_datagram(socket_, datagram));  // one that cannot go is lost
    ++sent_;
  }

  void hear(const Deadline& until) {
    if (!wait_until_readable(socket_, until)) return;
    while (auto datagram = receive_datagram(socket_)) keep(*datagram);
  }

  void keep(Datagram& datagram) {
    const std::uint64_t received_ns = wall_clock_ns();
    if (!is_signed(datagram, connection_.key, kBack)) return;
    const std::uint64_t number = load_number(number_in(datagram, 0));
    if (!seen_.insert(number).second) return;  // a network may deliver twice
    // Since the first one was sent: a double does not hold the nanoseconds since 1970.
    const auto seconds = [&](std::uint64_t time_ns) {
      return static_cast<double>(static_cast<std::int64_t>(time_ns - begin_ns_)) * 1e-9;
    };
    const auto stamp = [&](std::size_t i) { return seconds(load_number(number_in(datagram, i))); };
    returned_.push_back({number, stamp(1), stamp(2), stamp(3), seconds(received_ns)});
  }

  int arrived() {
    try {
      finish_sending(connection_.socket);
      return static_cast<int>(receive_number(connection_.socket, deadline_));
    } catch (const Error&) {
      return -1;
    }
  }

  const Connection& connection_;
  DatagramOptions options_;
  Deadline deadline_;
  Descriptor socket_;
  std::uint64_t begin_ns_ = wall_clock_ns();
  int sent_ = 0;
  std::vector<ReturnedDatagram> returned_;
  std::unordered_set<std::uint64_t> seen_;
};

}  // namespace

void answer_datagrams(const Connection& connection, const Deadline& deadline, const PortRange& ports) {
  const std::uint64_t port = receive_number(connection.socket, deadline);
  const Descriptor socket = datagram_socket_beside(connection.socket, ports);
  aim_at(socket, connection.socket, static_cast<std::uint16_t>(port));
  send_number(connection.socket, port_of(socket), deadline);
  std::unordered_set<std::uint64_t> arrived;
  while (!deadline.is_over()) {
    const Ready ready = wait_for_either(connection.socket, socket, deadline);
    while (auto datagram = receive_datagram(socket)) {
      const std::uint64_t now_ns = wall_clock_ns();
      if (!is_signed(*datagram, connection.key, kThere)) continue;
      arrived.insert(load_number(number_in(*datagram, 0)));
      store_number(number_in(*datagram, 2), now_ns);
      store_number(number_in(*datagram, 3), wall_clock_ns());
      sign(*datagram, connection.key, kBack);
      static_cast<void>(send_datagram(socket, *datagram));
    }
    if (ready.stream) break;  // the client has enough, or is gone
  }
  send_number(connection.socket, arrived.size(), deadline);
}

DatagramOutcome measure_datagrams(const Endpoint& server, const Secret& secret, const DatagramOptions& options,
                                  const Deadline& deadline) {
  const Deadline end = deadline.or_in(options.seconds + kSpare_s);
  const Connection connection =
      request_service(server, secret, {Service::datagrams, std::max(0.0, end.left_s())}, end);
  return DatagramRun(connection, options, end).run();
}

double longest_s(const DatagramOptions& options, double round_trip_s) {
  return kConnect_s + kRoundTrips * round_trip_s + options.seconds + kLastOnes_s;
}

}  // namespace sextant::inline probes
