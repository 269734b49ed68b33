#include "probes/link/link_probe.h"

#include <utility>

#include "core/units.h"
#include "probes/link/ping_pong.h"

namespace sextant {
namespace {

std::string describe(const AlphaBeta& fit) {
  return "latency " + format_seconds(fit.latency_s) + " to " + format_percent(fit.latency_spread_fraction) +
         ", " + format_bytes_per_s(fit.bytes_per_s) + " to " + format_percent(fit.bytes_per_s_spread_fraction) +
         ", off by " + format_percent(fit.rms_error_fraction) + " (root mean square over sizes)";
}

LinkMeasurement lead_pair(Communicator& world, RankPair pair, const ProbeContext& context,
                          const std::vector<std::size_t>& message_bytes) {
  std::vector<ProbeResult> points;
  for (const std::size_t bytes : message_bytes) {
    points.push_back(lead_ping_pong(world, pair.high, bytes, context));
  }
  return fit_link(pair, std::move(points));
}

}  // namespace

std::vector<std::size_t> default_message_bytes() { return {1, 8, 4096, 65536, 1 << 20, 4 << 20, 16 << 20}; }

LinkMeasurement fit_link(RankPair pair, std::vector<ProbeResult> points) {
  LinkMeasurement link{pair, std::move(points), std::nullopt, ""};
  std::vector<TimedMessage> messages;
  for (const ProbeResult& point : link.points) {
    if (!point.has_value()) {
      link.sentence = point.name + ": " + point.sentence;
      return link;
    }
    messages.push_back({point.work, point.value});
  }
  link.fit = fit_alpha_beta(messages);
  link.sentence = link.fit ? describe(*link.fit) : "the time of a message does not grow with its size";
  return link;
}

std::vector<LinkMeasurement> measure_links(Communicator& world, const ProbeContext& context,
                                           const std::vector<std::size_t>& message_bytes) {
  std::vector<LinkMeasurement> led;
  for (const auto& round : tournament_rounds(world.size())) {
    for (const RankPair& pair : round) {
      if (pair.low == world.rank()) led.push_back(lead_pair(world, pair, context, message_bytes));
      if (pair.high != world.rank()) continue;
      for (const std::size_t bytes : message_bytes) follow_ping_pong(world, pair.low, bytes);
    }
    world.wait_quietly();
  }
  return led;
}

ProbeResult waived_links() {
  return waived_result("link", "s",
                       "there is only one rank, so there is no pair to measure between; start "
                       "several with mpirun or srun");
}

}  // namespace sextant
