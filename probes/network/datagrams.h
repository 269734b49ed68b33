// Loss and jitter over time: datagrams at a steady pace, each sent back.
//
// Over UDP, because TCP hides what is lost. Each datagram carries a tag that only the two ends of the
// connection can make (HMAC under its key), so that nobody else gets an answer. The TCP connection that asked
// for the service stays open beside; the server stops with it and says there how many came, so that losses
// there and back are told apart. Jitter is RFC 3550's (appendix A.8): |difference of successive transit times|,
// smoothed by a sixteenth; clocks that differ cancel out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "probes/network/handshake.h"
#include "sextant/json.h"

namespace sextant {

struct DatagramOptions {
  double seconds = 2;
  double every_s = 0.005;
  PortRange ports;  // of this host's socket, where one of them is free
};

// Some that were sent one after another.
struct DatagramSlot {
  int sent = 0;
  int returned = 0;
  std::optional<double> median_s;  // round trip; of those that returned
  std::optional<double> jitter_s;  // mean |difference of successive round trips|, of two and more

  friend bool operator==(const DatagramSlot&, const DatagramSlot&) = default;
  static DatagramSlot parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

inline constexpr int kSlotDatagrams = 20;  // 100 ms at the usual pace

struct DatagramLoss {
  int sent = 0;
  int arrived = 0;  // at the server; -1 when it could not say
  int returned = 0;
  double lost_there_fraction = 0;
  double lost_back_fraction = 0;  // of those that arrived
  double jitter_there_s = 0;
  double jitter_back_s = 0;
  double median_s = 0;  // round trip
  double p99_s = 0;
  double seconds = 0;
  std::vector<DatagramSlot> over_time;  // kSlotDatagrams each, the last what is left

  friend bool operator==(const DatagramLoss&, const DatagramLoss&) = default;
  static DatagramLoss parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

// What came back, in the order it came.
struct ReturnedDatagram {
  std::uint64_t number = 0;
  double sent_s = 0, received_there_s = 0, sent_back_s = 0, received_s = 0;  // each by its own host's clock
};

// `sent` and `arrived` datagrams in all.
[[nodiscard]] DatagramLoss summarise(int sent, int arrived, const std::vector<ReturnedDatagram>& returned);

// The server's side.
void answer_datagrams(const Connection& connection, const Deadline& deadline, const PortRange& ports = {});

// Nothing but why not when no datagram came back at all: most likely UDP is not let through.
struct DatagramOutcome {
  std::optional<DatagramLoss> loss;
  std::string failure_reason;
};
// Most seconds that it takes for hosts so far apart.
[[nodiscard]] double longest_s(const DatagramOptions& options, double round_trip_s);
// Error(machine) when the connection beside breaks.
[[nodiscard]] DatagramOutcome measure_datagrams(const Endpoint& server, const Secret& secret,
                                                const DatagramOptions& options, const Deadline& deadline);

}  // namespace sextant
