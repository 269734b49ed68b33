// Loss and jitter over time: datagrams at a fixed rate, each echoed.
//
// It uses UDP, because TCP hides losses. Each datagram carries a tag that only the two ends of the connection
// can make (HMAC under its key), so that no third party gets an answer. The TCP connection that requested the
// service stays open; the server stops with it and reports on it how many arrived, which separates losses there
// and back. Jitter is RFC 3550's (appendix A.8): |difference of successive transit times|, smoothed by a
// sixteenth; clock differences cancel out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "probes/network/handshake.h"
#include "sextant/json.h"

namespace sextant::inline probes {

struct DatagramOptions {
  double seconds = 2;
  double every_s = 0.005;
  PortRange ports;  // for this host's socket, if one of them is free
};

// Consecutive datagrams.
struct DatagramSlot {
  int sent = 0;
  int returned = 0;
  std::optional<double> median_s;  // round trip of those that returned
  std::optional<double> jitter_s;  // mean |difference of successive round trips|, for two and more

  friend bool operator==(const DatagramSlot&, const DatagramSlot&) = default;
  static DatagramSlot parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

inline constexpr int kSlotDatagrams = 20;  // 100 ms at the default rate

struct DatagramLoss {
  int sent = 0;
  int arrived = 0;  // at the server; -1 if it could not say
  int returned = 0;
  double lost_there_fraction = 0;
  double lost_back_fraction = 0;  // relative to those that arrived
  double jitter_there_s = 0;
  double jitter_back_s = 0;
  double median_s = 0;  // round trip
  double p99_s = 0;
  double seconds = 0;
  std::vector<DatagramSlot> over_time;  // kSlotDatagrams each, the last one the remainder

  friend bool operator==(const DatagramLoss&, const DatagramLoss&) = default;
  static DatagramLoss parse(const JsonView& view);
  [[nodiscard]] Json to_json() const;
};

// The datagrams that came back, in order of arrival.
struct ReturnedDatagram {
  std::uint64_t number = 0;
  double sent_s = 0, received_there_s = 0, sent_back_s = 0, received_s = 0;  // each by its own host's clock
};

// `sent` and `arrived` count all datagrams.
[[nodiscard]] DatagramLoss summarise(int sent, int arrived, const std::vector<ReturnedDatagram>& returned);

// The server's side.
void answer_datagrams(const Connection& connection, const Deadline& deadline, const PortRange& ports = {});

// No loss but a reason if no datagram came back at all: most likely UDP is blocked.
struct DatagramOutcome {
  std::optional<DatagramLoss> loss;
  std::string failure_reason;
};
// Returns the maximum time for hosts at this distance.
[[nodiscard]] double longest_s(const DatagramOptions& options, double round_trip_s);
// Throws Error(machine) if the TCP connection breaks.
[[nodiscard]] DatagramOutcome measure_datagrams(const Endpoint& server, const Secret& secret,
                                                const DatagramOptions& options, const Deadline& deadline);

}  // namespace sextant::inline probes
