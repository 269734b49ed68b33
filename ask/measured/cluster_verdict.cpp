#include "ask/measured/cluster_verdict.h"

#include <algorithm>
#include <map>

#include "core/json_value.h"
#include "core/units.h"

namespace sextant::inline ask {
namespace {

struct Range {
  double low = 0, high = 0;
};

// Shares of the datasheet of the best published matrix products in a precision, over GPUs of one vendor.
std::optional<Range> usual_share(const Facts& facts, bool is_nvidia, Precision precision) {
  std::optional<Range> range;
  for (const std::string& name : facts.gpu_names()) {
    const Gpu& gpu = facts.gpu(name);
    if (gpu.compute_capability.has_value() != is_nvidia) continue;
    const auto measured = gpu.best_measured_flop_per_s.find(precision);
    if (measured == gpu.best_measured_flop_per_s.end()) continue;
    const double share = measured->second / gpu.type.flop_per_s.at(precision).value;
    if (!range) range = {share, share};
    range->low = std::min(range->low, share);
    range->high = std::max(range->high, share);
  }
  return range;
}

// Published measurements are the best of hundreds of sizes; a probe measures some.
constexpr double kFewerSizes = 0.95;

bool is_measured(const Quantity& quantity) { return quantity.source == Source::measured; }

// The quantity at the upper end of its interval.
double at_best(const Quantity& quantity) { return quantity.value * (1 + quantity.spread_fraction.value_or(0)); }

class Judge {
 public:
  Judge(const Cluster& cluster, const Facts& facts) : cluster_(cluster), facts_(facts) {}

  [[nodiscard]] ClusterVerdict verdict() {
    for (const auto& [name, type] : cluster_.device_types()) judge_type(name, type);
    judge_links();
    verdict_.sentence = sentence();
    return std::move(verdict_);
  }

 private:
  void judge_type(const std::string& name, const DeviceType& type) {
    const bool has_rates = is_measured(type.memory_bytes_per_s) ||
                           std::any_of(type.flop_per_s.begin(), type.flop_per_s.end(),
                                       [](const auto& rate) { return is_measured(rate.second); });
    measured_types_ += has_rates ? 1 : 0;
    const GpuInText known = facts_.gpu_in(name);
    if (known.name.empty()) {
      if (has_rates) unknown_.push_back(name);
      return;
    }
    const Gpu& gpu = facts_.gpu(known.name);
    for (const auto& [precision, rate] : type.flop_per_s) {
      const auto datasheet = gpu.type.flop_per_s.find(precision);
      if (!is_measured(rate) || datasheet == gpu.type.flop_per_s.end()) continue;
      const std::optional<Range> usual = usual_share(facts_, gpu.compute_capability.has_value(), precision);
      RateShare one{known.name + " " + std::string(name_of(precision)) + " matrix products",
                    {format_flop_per_s(rate.value), rate.value},
                    rate.value / datasheet->second.value,
                    {},
                    {},
                    false};
      if (usual) {
        one.usual_low = usual->low;
        one.usual_high = usual->high;
        one.is_low = at_best(rate) / datasheet->second.value < kFewerSizes * usual->low;
      }
      verdict_.rates.push_back(std::move(one));
    }
    add_bytes(known.name + " memory reads", type.memory_bytes_per_s, gpu.type.memory_bytes_per_s.value, 0);
    if (cluster_.device_types().size() == 1) {
      const auto& levels = cluster_.levels();
      if (const auto inside = levels.find(LinkLevel::within_node); inside != levels.end())
        add_bytes(known.name + " links of a node", inside->second.bytes_per_s,
                  gpu.within_node.bytes_per_s.value, kLowLink);
    }
  }

  void add_bytes(const std::string& what, const Quantity& rate, double datasheet, double low) {
    if (!is_measured(rate) || datasheet <= 0) return;
    const double share = rate.value / datasheet;
    verdict_.rates.push_back(
        {what, {format_bytes_per_s(rate.value), rate.value}, share, {}, {}, at_best(rate) / datasheet < low});
  }

  // Links of two devices of a node, or of two nodes of a zone, that are slower than the usual one by a tenth.
  void judge_links() {
    constexpr double kOdd = 0.9;
    std::map<std::string, const Node*> nodes;
    for (const Node& node : cluster_.nodes()) nodes[node.name] = &node;
    const auto node_of = [&](const std::string& end) { return nodes[end.substr(0, end.find('/'))]; };
    for (const LinkException& link : cluster_.exceptions()) {
      const Node *from = node_of(link.from), *to = node_of(link.to);
      if (from == nullptr || to == nullptr || !is_measured(link.rate.bytes_per_s)) continue;
      if (from->region != to->region || from->zone != to->zone) continue;
      const auto usual = cluster_.levels().find(from == to ? LinkLevel::within_node : LinkLevel::within_zone);
      if (usual == cluster_.levels().end()) continue;
      const double usually = usual->second.bytes_per_s.value;
      if (at_best(link.rate.bytes_per_s) >= kOdd * usually) continue;
      verdict_.odd.push_back("The link " + link.from + " to " + link.to + " carries " +
                             format_bytes_per_s(link.rate.bytes_per_s.value) + ", " +
                             format_percent(link.rate.bytes_per_s.value / usually, 0) + " of the usual " +
                             format_bytes_per_s(usually) + ".");
    }
  }

  [[nodiscard]] std::string sentence() const {
    if (measured_types_ == 0) return "No rate of this cluster was measured: sextant probe measures them.";
    std::string text;
    std::size_t low = 0;
    for (const RateShare& rate : verdict_.rates) {
      if (!rate.is_low) continue;
      ++low;
      text += (text.empty() ? "" : "; ") + rate.what + " reach " + format_percent(rate.share, 0) +
              " of the datasheet";
      if (rate.usual_low)
        text +=
            ", usual are " + format_percent(*rate.usual_low, 0) + " to " + format_percent(*rate.usual_high, 0);
    }
    if (low > 0) text = "Slower than it should be: " + text + ".";
    if (low == 0 && !verdict_.rates.empty()) text = "No measured rate is below what is usual for its hardware.";
    if (!unknown_.empty()) {
      text += (text.empty() ? "" : " ") + std::string("No datasheet is known for ") + unknown_.front() +
              (unknown_.size() > 1 ? " and " + std::to_string(unknown_.size() - 1) + " more" : "") +
              ", so its rates are not judged.";
    }
    if (!verdict_.odd.empty())
      text += " " + std::to_string(verdict_.odd.size()) +
              (verdict_.odd.size() == 1 ? " link is" : " links are") + " slower than the others.";
    return text;
  }

  const Cluster& cluster_;
  const Facts& facts_;
  ClusterVerdict verdict_;
  int measured_types_ = 0;
  std::vector<std::string> unknown_;
};

}  // namespace

ClusterVerdict judge_cluster(const Cluster& cluster, const Facts& facts) {
  return Judge(cluster, facts).verdict();
}

}  // namespace sextant::inline ask
