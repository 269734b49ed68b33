// Output of "iperf3 -J", github.com/esnet/iperf: intervals of the test and a summary, rates in bit/s and times in us.
#include <algorithm>

#include "calibrate/import/benchmarks/link_benchmark.h"
#include "core/json_value.h"
#include "sextant/error.h"

namespace sextant::inline calibrate {
namespace {

constexpr double kBitsPerByte = 8, kMicroseconds = 1e6;

// The rate of each interval; iperf omits those in which TCP is still speeding up (-O).
std::vector<double> interval_rates(const JsonView& view) {
  std::vector<double> rates;
  const auto intervals = view.optional("intervals");
  if (!intervals) return rates;
  for (const JsonView& interval : intervals->items()) {
    const auto sum = interval.optional("sum");
    const auto rate = sum ? sum->optional("bits_per_second") : std::nullopt;
    const auto omitted = sum ? sum->optional("omitted") : std::nullopt;
    const bool counts = !omitted || !omitted->json().is_boolean() || !omitted->flag();
    if (rate && counts && rate->number() > 0) rates.push_back(rate->number() / kBitsPerByte);
  }
  return rates;
}

// Half of the shortest round trip of any stream; the mean under load holds the queues.
std::optional<double> one_way_latency(const JsonView& end) {
  std::optional<double> shortest;
  const auto streams = end.optional("streams");
  if (!streams) return shortest;
  for (const JsonView& stream : streams->items()) {
    const auto sender = stream.optional("sender");
    const auto trip = sender ? sender->optional("min_rtt") : std::nullopt;
    if (!trip || !(trip->number() > 0)) continue;
    const double one_way = trip->number() / kMicroseconds / 2;
    shortest = std::min(one_way, shortest.value_or(one_way));
  }
  return shortest;
}

// The receiver's rate over the whole test: what arrived.
std::optional<double> received_rate(const JsonView& end) {
  for (const char* member : {"sum_received", "sum"}) {
    const auto sum = end.optional(member);
    const auto rate = sum ? sum->optional("bits_per_second") : std::nullopt;
    if (rate && rate->number() > 0) return rate->number() / kBitsPerByte;
  }
  return std::nullopt;
}

std::string hosts_of(const JsonView& start) {
  const auto connected = start.optional("connected");
  if (!connected || connected->items().empty()) return "";
  const JsonView first = connected->items().front();
  const auto from = first.optional("local_host"), to = first.optional("remote_host");
  return from && to ? " from " + from->text() + " to " + to->text() : "";
}

}  // namespace

LinkBenchmarks read_iperf3(std::string_view text, const std::string& file) {
  const Json json = parse_json(text);
  const JsonView view(json);
  if (const auto error = view.optional("error"); error && error->json().is_string())
    throw_bad_input(file + ": iperf3 failed: " + error->text());
  const JsonView end = view.required("end");
  const auto rate = received_rate(end);
  if (!rate)
    throw_bad_input(file + ": /end: expected sum_received with bits_per_second, as iperf3 -J writes it");
  LinkBenchmark link;
  link.link = BenchmarkedLink::between_nodes;
  link.is_of_node = true;
  link.bytes_per_s = interval_rates(view);
  if (link.bytes_per_s.empty()) link.bytes_per_s = {*rate};
  link.latency_s = one_way_latency(end);
  const auto start = view.optional("start");
  link.what = "iperf3" + (start ? hosts_of(*start) : "");
  LinkBenchmarks out;
  out.links.push_back(std::move(link));
  return out;
}

}  // namespace sextant::inline calibrate
