#include "probes/network/streams.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <vector>

#include "core/json_value.h"
#include "core/units.h"
#include "probes/network/services.h"
#include "probes/network/wire.h"
#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

constexpr std::array<std::string_view, 2> kDirections = {"there", "back"};
constexpr double kSpare_s = 5;  // for hosts that are too busy
constexpr double kWarmUpRoundTrips = 20;
constexpr double kBinRoundTrips = 2;

double connect_budget_s(const StreamOptions& options) {
  return kConnect_s + kConnectRoundTrips * options.round_trip_s;
}

// One connection of several, whichever way its bytes go.
struct Stream {
  Connection connection;
  std::size_t offset = 0;      // in the random chunk, of what is sent next
  std::uint64_t received = 0;  // bytes, when they come here
  std::array<std::byte, kReportBytes> report{};
  std::size_t reported = 0;  // bytes of `report` that have come
};

class StreamRun {
 public:
  StreamRun(const Endpoint& server, const Secret& secret, Direction direction, const StreamOptions& options,
            const Deadline& deadline)
      : direction_(direction), options_(options), meter_(meter_options(options)), buffer_(kChunkBytes) {
    const Service service = direction == Direction::there ? Service::take : Service::give;
    const Request request{service, longest_s(options) + 2 * kSpare_s};
    for (Connection& connection : request_services(server, secret, request, options.streams, deadline)) {
      drop_unsent_when_closed(connection.socket);
      streams_.emplace_back().connection = std::move(connection);
    }
  }

  // Until the first is over; where nothing is known by then (a host that is too busy to count) until the
  // second.
  MeasuredRate run(const Deadline& usual, const Deadline& last) {
    const double bin_s = meter_options(options_).bin_s;
    Deadline look = Deadline::in(bin_s);
    while (!usual.is_over() || (meter_.rate().bytes_per_s <= 0 && !last.is_over())) {
      move_bytes(std::min(look, usual.is_over() ? last : usual));
      if (!look.is_over()) continue;
      if (meter_.rate().is_stable) break;
      look = Deadline::in(bin_s);
    }
    return meter_.rate();
  }

  [[nodiscard]] std::optional<double> retransmitted_fraction() const {
    if (direction_ == Direction::back) return std::nullopt;
    Retransmissions all;
    for (const Stream& stream : streams_) {
      const auto one = retransmissions_of(stream.connection.socket);
      if (!one) return std::nullopt;
      all.again += one->again;
      all.sent += one->sent;
    }
    if (all.sent == 0) return std::nullopt;
    return static_cast<double>(all.again) / static_cast<double>(all.sent);
  }

 private:
  void move_bytes(const Deadline& until) {
    std::vector<pollfd> entries;
    entries.reserve(streams_.size());
    const auto events = static_cast<short>(direction_ == Direction::there ? POLLIN | POLLOUT : POLLIN);
    for (const Stream& stream : streams_) entries.push_back({stream.connection.socket.number(), events, 0});
    if (poll(entries.data(), entries.size(), until.left_ms()) < 0 && errno != EINTR) {
      throw_machine_failed("poll failed");
    }
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      const int ready = entries[i].revents;
      if (direction_ == Direction::there) {
        if ((ready & (POLLIN | POLLERR | POLLHUP)) != 0) hear_report(i);
        if ((ready & POLLOUT) != 0) send_more(streams_[i]);
      } else if (ready != 0) {
        receive_more(i);
      }
    }
  }

  void send_more(Stream& stream) {
    const auto rest = random_chunk().subspan(stream.offset);
    if (const auto sent = send_some(stream.connection.socket, rest)) {
      stream.offset = (stream.offset + *sent) % kChunkBytes;
    }
  }

  void receive_more(std::size_t index) {
    Stream& stream = streams_[index];
    const auto received = receive_some(stream.connection.socket, buffer_);
    if (!received) return;
    if (*received == 0) throw_machine_failed("the other end stopped sending");
    stream.received += *received;
    meter_.add(static_cast<int>(index), static_cast<double>(steady_clock_ns()) * 1e-9, stream.received);
  }

  void hear_report(std::size_t index) {
    Stream& stream = streams_[index];
    const auto rest = std::span(stream.report).subspan(stream.reported);
    const auto received = receive_some(stream.connection.socket, rest);
    if (!received) return;
    if (*received == 0) throw_machine_failed("the other end stopped receiving");
    stream.reported += *received;
    if (stream.reported < kReportBytes) return;
    stream.reported = 0;
    const auto report = std::span<const std::byte>(stream.report);
    meter_.add(static_cast<int>(index), static_cast<double>(load_number(report.first(8))) * 1e-9,
               load_number(report.last(8)));
  }

  Direction direction_;
  StreamOptions options_;
  RateMeter meter_;
  std::vector<std::byte> buffer_;
  std::vector<Stream> streams_;
};

std::string sentence_of(const MeasuredRate& rate, const StreamOptions& options) {
  const std::string seen = format_percent(rate.spread_fraction) + " after " + std::to_string(rate.bins) +
                           " intervals, " + format_seconds(rate.seconds);
  if (rate.is_stable) return "stable: " + seen;
  return (rate.is_growing ? "still growing when " : "not stable when ") +
         format_seconds(bins_budget_s(options)) + " were over: " + seen;
}

}  // namespace

RateMeterOptions meter_options(const StreamOptions& options) {
  RateMeterOptions meter;
  meter.streams = options.streams;
  meter.bin_s = std::clamp(kBinRoundTrips * options.round_trip_s, 0.05, 1.0);
  meter.warm_up_s = std::clamp(kWarmUpRoundTrips * options.round_trip_s, 0.3, 5.0);
  meter.target_spread_fraction = options.target_spread_fraction;
  return meter;
}

double bins_budget_s(const StreamOptions& options) {
  const RateMeterOptions meter = meter_options(options);
  const double of_round_trips_s = std::min(kBinRoundTrips * options.round_trip_s, meter.bin_s);
  return std::max(options.budget_s, 2 * meter.min_bins * of_round_trips_s);
}

double longest_s(const StreamOptions& options) {
  return connect_budget_s(options) + meter_options(options).warm_up_s + bins_budget_s(options);
}

StreamRate measure_streams(const Endpoint& server, const Secret& secret, Direction direction,
                           const StreamOptions& options, const Deadline& deadline) {
  StreamRun run(server, secret, direction, options, deadline.or_in(connect_budget_s(options) + kSpare_s));
  const double usual_s = meter_options(options).warm_up_s + bins_budget_s(options);
  const MeasuredRate rate = run.run(deadline.or_in(usual_s), deadline.or_in(usual_s + kSpare_s));
  if (rate.bins == 0 || rate.bytes_per_s <= 0) throw_machine_failed("no data arrived within the time limit");
  StreamRate result;
  result.direction = direction;
  result.streams = options.streams;
  result.bytes_per_s = rate.bytes_per_s;
  result.spread_fraction = rate.spread_fraction;
  result.slowest_bytes_per_s = rate.slowest_bytes_per_s;
  result.seconds = rate.seconds;
  result.is_stable = rate.is_stable;
  result.retransmitted_fraction = run.retransmitted_fraction();
  result.sentence = sentence_of(rate, options);
  return result;
}

StreamRate StreamRate::parse(const JsonView& view) {
  view.allow_only({"direction", "streams", "bytes_per_s", "spread_fraction", "slowest_bytes_per_s", "seconds",
                   "is_stable", "retransmitted_fraction", "sentence"});
  StreamRate rate;
  rate.direction =
      static_cast<Direction>(view.required("direction").one_of({kDirections.begin(), kDirections.end()}));
  rate.streams = view.required("streams").count(1);
  rate.bytes_per_s = view.required("bytes_per_s").positive();
  rate.spread_fraction = view.required("spread_fraction").non_negative();
  rate.slowest_bytes_per_s = view.required("slowest_bytes_per_s").non_negative();
  rate.seconds = view.required("seconds").positive();
  rate.is_stable = view.required("is_stable").flag();
  if (const auto lost = view.optional("retransmitted_fraction"))
    rate.retransmitted_fraction = lost->non_negative();
  rate.sentence = view.required("sentence").any_text();
  return rate;
}

Json StreamRate::to_json() const {
  Json out = {{"direction", kDirections[static_cast<std::size_t>(direction)]},
              {"streams", streams},
              {"bytes_per_s", bytes_per_s},
              {"spread_fraction", spread_fraction},
              {"slowest_bytes_per_s", slowest_bytes_per_s},
              {"seconds", seconds},
              {"is_stable", is_stable}};
  if (retransmitted_fraction) out["retransmitted_fraction"] = *retransmitted_fraction;
  out["sentence"] = sentence;
  return out;
}

}  // namespace sextant::inline probes
