#include "probes/network/datagrams.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <unordered_set>

#include "core/error.h"
#include "core/json_value.h"
#include "core/statistics.h"
#include "probes/network/services.h"
#include "probes/network/wire.h"

namespace sextant {
namespace {

// Number, sent, received, sent back (8 bytes each) and a tag of 16.
constexpr std::size_t kNumbers = 4;
constexpr std::size_t kTagBytes = 16;
constexpr std::size_t kDatagramBytes = 8 * kNumbers + kTagBytes;
constexpr double kLastOnes_s = 1;  // how long what is still under way is waited for
constexpr double kRoundTrips = 6;  // of connecting, and of agreeing when to begin and that it is over
constexpr double kConnect_s = 1;   // beside its round trips
constexpr double kSpare_s = 10;
constexpr double kJitterGain = 1.0 / 16;

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

// RFC 3550 over transit times in the order of arrival.
class Jitter {
 public:
  void add(double transit_s) {
    if (has_last_) value_s_ += (std::abs(transit_s - last_s_) - value_s_) * kJitterGain;
    last_s_ = transit_s;
    has_last_ = true;
  }
  [[nodiscard]] double value_s() const { return value_s_; }

 private:
  double value_s_ = 0;
  double last_s_ = 0;
  bool has_last_ = false;
};

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

namespace {

// Without the time that the other host had it.
double round_trip_s(const ReturnedDatagram& one) {
  return (one.received_s - one.sent_s) - (one.sent_back_s - one.received_there_s);
}

std::vector<DatagramSlot> slots_of(int sent, const std::vector<ReturnedDatagram>& returned) {
  std::map<std::uint64_t, double> times_s;  // by number, whatever the order in which they came
  for (const ReturnedDatagram& one : returned) times_s[one.number] = round_trip_s(one);
  std::vector<DatagramSlot> slots;
  for (int first = 0; first < sent; first += kSlotDatagrams) {
    DatagramSlot& slot = slots.emplace_back();
    slot.sent = std::min(kSlotDatagrams, sent - first);
    std::vector<double> of_slot, steps;
    const auto end = times_s.lower_bound(static_cast<std::uint64_t>(first + slot.sent));
    for (auto one = times_s.lower_bound(static_cast<std::uint64_t>(first)); one != end; ++one) {
      if (!of_slot.empty()) steps.push_back(std::abs(one->second - of_slot.back()));
      of_slot.push_back(one->second);
    }
    slot.returned = static_cast<int>(of_slot.size());
    if (!of_slot.empty()) slot.median_s = median(of_slot);
    if (!steps.empty()) {
      slot.jitter_s = std::accumulate(steps.begin(), steps.end(), 0.0) / static_cast<double>(steps.size());
    }
  }
  return slots;
}

}  // namespace

DatagramLoss summarise(int sent, int arrived, const std::vector<ReturnedDatagram>& returned) {
  DatagramLoss loss;
  loss.sent = sent;
  loss.arrived = arrived;
  loss.returned = static_cast<int>(returned.size());
  // Without the server's word all that is lost counts as lost on the way there.
  const int there = arrived < 0 ? loss.returned : arrived;
  loss.lost_there_fraction = 1 - static_cast<double>(there) / sent;
  loss.lost_back_fraction = there > 0 ? 1 - static_cast<double>(loss.returned) / there : 0;
  Jitter jitter_there, jitter_back;
  std::vector<double> times_s;
  for (const ReturnedDatagram& one : returned) {
    jitter_there.add(one.received_there_s - one.sent_s);
    jitter_back.add(one.received_s - one.sent_back_s);
    times_s.push_back(round_trip_s(one));
  }
  loss.jitter_there_s = jitter_there.value_s();
  loss.jitter_back_s = jitter_back.value_s();
  if (!times_s.empty()) {
    loss.median_s = median(times_s);
    loss.p99_s = quantile(times_s, 0.99);
    loss.seconds = returned.back().sent_s - returned.front().sent_s;
  }
  loss.over_time = slots_of(sent, returned);
  return loss;
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

DatagramSlot DatagramSlot::parse(const JsonView& view) {
  view.allow_only({"sent", "returned", "median_s", "jitter_s"});
  DatagramSlot slot;
  slot.sent = view.required("sent").count(1);
  slot.returned = view.required("returned").count(0);
  if (const auto median = view.optional("median_s")) slot.median_s = median->number();
  if (const auto jitter = view.optional("jitter_s")) slot.jitter_s = jitter->non_negative();
  return slot;
}

Json DatagramSlot::to_json() const {
  Json out = {{"sent", sent}, {"returned", returned}};
  if (median_s) out["median_s"] = *median_s;
  if (jitter_s) out["jitter_s"] = *jitter_s;
  return out;
}

DatagramLoss DatagramLoss::parse(const JsonView& view) {
  view.allow_only({"sent", "arrived", "returned", "lost_there_fraction", "lost_back_fraction", "jitter_there_s",
                   "jitter_back_s", "median_s", "p99_s", "seconds", "over_time"});
  DatagramLoss loss;
  loss.sent = view.required("sent").count(1);
  loss.arrived = static_cast<int>(view.required("arrived").integer(-1, loss.sent));
  loss.returned = view.required("returned").count(0);
  loss.lost_there_fraction = view.required("lost_there_fraction").fraction();
  loss.lost_back_fraction = view.required("lost_back_fraction").fraction();
  loss.jitter_there_s = view.required("jitter_there_s").non_negative();
  loss.jitter_back_s = view.required("jitter_back_s").non_negative();
  loss.median_s = view.required("median_s").number();
  loss.p99_s = view.required("p99_s").number();
  loss.seconds = view.required("seconds").non_negative();
  if (const auto slots = view.optional("over_time")) {
    for (const JsonView& slot : slots->items()) loss.over_time.push_back(DatagramSlot::parse(slot));
  }
  return loss;
}

Json DatagramLoss::to_json() const {
  Json slots = Json::array();
  for (const DatagramSlot& slot : over_time) slots.push_back(slot.to_json());
  return {{"sent", sent},
          {"arrived", arrived},
          {"returned", returned},
          {"lost_there_fraction", lost_there_fraction},
          {"lost_back_fraction", lost_back_fraction},
          {"jitter_there_s", jitter_there_s},
          {"jitter_back_s", jitter_back_s},
          {"median_s", median_s},
          {"p99_s", p99_s},
          {"seconds", seconds},
          {"over_time", std::move(slots)}};
}

}  // namespace sextant
