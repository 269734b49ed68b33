#include "probes/assembly/cluster_links.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "core/units.h"
#include "probes/assembly/cluster_assembly.h"
#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

constexpr std::size_t kMaxNamed = 4;

LinkRate rate_of(const AlphaBeta& fit) {
  const std::string note = "fit of half round trips over message sizes";
  return {measured(fit.latency_s, fit.latency_spread_fraction, note),
          measured(fit.bytes_per_s, fit.bytes_per_s_spread_fraction, note)};
}

LinkRate median_of(const std::vector<LinkRate>& links) {
  std::vector<double> latencies, latency_spreads, rates, rate_spreads;
  for (const LinkRate& rate : links) {
    latencies.push_back(rate.latency_s.value);
    latency_spreads.push_back(rate.latency_s.spread_fraction.value_or(0));
    rates.push_back(rate.bytes_per_s.value);
    rate_spreads.push_back(rate.bytes_per_s.spread_fraction.value_or(0));
  }
  const std::string note = "fit of half round trips over message sizes, median of " +
                           std::to_string(links.size()) + (links.size() == 1 ? " pair" : " pairs");
  return {median_quantity(latencies, latency_spreads, note), median_quantity(rates, rate_spreads, note)};
}

// The median of what stands for a pair that was not measured.
LinkRate filled(const std::vector<LinkRate>& alike) {
  LinkRate rate = median_of(alike);
  for (Quantity* quantity : {&rate.latency_s, &rate.bytes_per_s}) {
    quantity->note = "not measured itself; of its like: " + quantity->note.value_or("");
  }
  return rate;
}

std::string warning_of(const LinkException& exception) {
  return "the link between " + exception.from + " and " + exception.to + " has " +
         format_seconds(exception.rate.latency_s.value) + " and " +
         format_bytes_per_s(exception.rate.bytes_per_s.value) + ", more than " +
         format_percent(kOddLinkFraction, 0) +
         " off the median of its level. The cluster document lists it as an exception.";
}

LinkLevel level_of(const PlacedRank& low, const PlacedRank& high) {
  if (low.node == high.node) return LinkLevel::within_node;
  if (low.region != high.region) return LinkLevel::between_regions;
  return low.zone == high.zone ? LinkLevel::within_zone : LinkLevel::within_region;
}

struct Level {
  LinkLevel level = LinkLevel::within_node;
  const char* name = "";
  std::vector<RankPair> with_fit;
  std::vector<RankPair> without;
};

class RankLinks {
 public:
  RankLinks(const std::vector<PlacedRank>& ranks, const std::vector<LinkMeasurement>& measurements,
            const LinkRules& rules)
      : ranks_(ranks), rules_(rules) {
    for (const LinkMeasurement& link : measurements) {
      if (link.fit) {
        rates_[link.pair] = rate_of(*link.fit);
      } else {
        reasons_[link.pair] = link.sentence;
      }
    }
  }

  ClusterLinks links() {
    for (int low = 0; low < static_cast<int>(ranks_.size()); ++low) {
      for (int high = low + 1; high < static_cast<int>(ranks_.size()); ++high) sort_in({low, high});
    }
    for (const Level& level : levels_) {
      if (!level.with_fit.empty() || (!level.without.empty() && !rules_.fills_levels)) add(level);
    }
    fill_levels();
    return std::move(links_);
  }

 private:
  using Alike = std::pair<std::string, std::string>;

  [[nodiscard]] const PlacedRank& rank(int number) const { return ranks_[static_cast<std::size_t>(number)]; }

  void sort_in(const RankPair& pair) {
    Level& level = levels_[static_cast<std::size_t>(level_of(rank(pair.low), rank(pair.high)))];
    (rates_.contains(pair) ? level.with_fit : level.without).push_back(pair);
  }

  // Pairs with the same answer stand for each other.
  [[nodiscard]] Alike alike(const Level& level, const RankPair& pair) const {
    if (level.level != LinkLevel::within_node) return std::minmax(rank(pair.low).node, rank(pair.high).node);
    return {rules_.kind_of_pair ? rules_.kind_of_pair(pair.low, pair.high) : "", ""};
  }

  void add(const Level& level) {
    if (level.with_fit.empty()) {
      throw_machine_failed("no link " + std::string(level.name) + " could be measured: " + seen(level, ""));
    }
    std::vector<LinkRate> all;
    std::map<Alike, std::vector<LinkRate>> by_likeness;
    for (const RankPair& pair : level.with_fit) {
      all.push_back(rates_.at(pair));
      by_likeness[alike(level, pair)].push_back(rates_.at(pair));
    }
    const LinkRate usual = median_of(all);
    links_.levels[level.level] = usual;
    const std::map<Alike, LinkRate> of_places = add_places(level, usual);
    const std::map<Alike, LinkRate> of_nodes = fill_gaps(level, by_likeness, usual);
    for (const RankPair& pair : level.with_fit) {
      const auto own = of_nodes.find(alike(level, pair));
      const auto place = of_places.find(places(level, pair));
      const LinkRate& expected = own != of_nodes.end()      ? own->second
                                 : place != of_places.end() ? place->second
                                                            : usual;
      if (!is_odd(rates_.at(pair), expected)) continue;
      links_.exceptions.push_back(of_devices(pair, rates_.at(pair)));
      links_.warnings.push_back(warning_of(links_.exceptions.back()));
    }
    warn_of_missing(level);
  }

  // The two zones or regions between which a pair lies.
  [[nodiscard]] Alike places(const Level& level, const RankPair& pair) const {
    const PlacedRank &low = rank(pair.low), &high = rank(pair.high);
    if (level.level == LinkLevel::within_region) return std::minmax(low.zone, high.zone);
    if (level.level == LinkLevel::between_regions) return std::minmax(low.region, high.region);
    return {};
  }

  // Gives the pairs of zones or regions that have an exception now.
  std::map<Alike, LinkRate> add_places(const Level& level, const LinkRate& usual) {
    std::map<Alike, LinkRate> odd;
    if (level.level < LinkLevel::within_region) return odd;
    std::map<Alike, std::vector<LinkRate>> rates_of;
    for (const RankPair& pair : level.with_fit) rates_of[places(level, pair)].push_back(rates_.at(pair));
    const LinkScope scope = level.level == LinkLevel::within_region ? LinkScope::zone : LinkScope::region;
    for (const auto& [between, rates] : rates_of) {
      const LinkRate rate = median_of(rates);
      if (!is_odd(rate, usual)) continue;
      odd.emplace(between, rate);
      links_.exceptions.push_back({scope, between.first, between.second, rate, true});
    }
    return odd;
  }

  void fill_levels() {
    if (!rules_.fills_levels) return;
    for (const Level& level : levels_) {
      if (level.without.empty() || links_.levels.contains(level.level)) continue;
      auto nearest = links_.levels.upper_bound(level.level);
      if (links_.levels.empty())
        throw_machine_failed("no link could be measured: " + seen(level, " and others"));
      if (nearest == links_.levels.end()) nearest = std::prev(nearest);
      filled_[level.level] =
          assumed_from(nearest->second, levels_[static_cast<std::size_t>(nearest->first)].name);
      links_.warnings.push_back("no link " + std::string(level.name) +
                                " was measured: assumed equal to links " +
                                levels_[static_cast<std::size_t>(nearest->first)].name + ".");
    }
    links_.levels.merge(filled_);
  }

  static LinkRate assumed_from(const LinkRate& rate, const std::string& level) {
    const std::string note = "not measured; as links " + level;
    return {assumed(rate.latency_s.value, note), assumed(rate.bytes_per_s.value, note)};
  }

  // Gives the pairs of nodes that have an exception now.
  std::map<Alike, LinkRate> fill_gaps(const Level& level,
                                      const std::map<Alike, std::vector<LinkRate>>& by_likeness,
                                      const LinkRate& usual) {
    std::map<Alike, LinkRate> odd;
    for (const auto& [like, rates] : by_likeness) {
      if (const LinkRate rate = filled(rates); is_odd(rate, usual)) odd.emplace(like, rate);
    }
    std::map<Alike, LinkRate> of_nodes;
    for (const RankPair& pair : level.without) {
      const auto found = odd.find(alike(level, pair));
      if (found == odd.end()) continue;
      const auto& [like, rate] = *found;
      if (level.level == LinkLevel::within_node) {
        links_.exceptions.push_back(of_devices(pair, rate));
      } else if (of_nodes.emplace(like, rate).second) {
        links_.exceptions.push_back({LinkScope::node, like.first, like.second, rate, true});
      }
    }
    return of_nodes;
  }

  [[nodiscard]] LinkException of_devices(const RankPair& pair, const LinkRate& rate) const {
    return {LinkScope::device, rank(pair.low).device, rank(pair.high).device, rate, true};
  }

  // Some of the pairs without a fit, those with a reason first.
  [[nodiscard]] std::string seen(const Level& level, const std::string& otherwise) const {
    std::string text;
    std::size_t named = 0;
    for (const bool has_reason : {true, false}) {
      for (const RankPair& pair : level.without) {
        const auto reason = reasons_.find(pair);
        if ((reason != reasons_.end()) != has_reason || named == kMaxNamed) continue;
        text += std::string(named++ == 0 ? "" : ", ") + rank(pair.low).device + " and " +
                rank(pair.high).device + (has_reason ? " (" + reason->second + ")" : "");
      }
    }
    return text + (level.without.size() > named ? otherwise : "");
  }

  // Leaves out the pairs whose nodes another pair stands for.
  [[nodiscard]] Level without_represented(Level level) const {
    if (!rules_.one_pair_for_nodes || level.level == LinkLevel::within_node) return level;
    std::set<Alike> represented;
    for (const RankPair& pair : level.with_fit) represented.insert(alike(level, pair));
    std::erase_if(level.without, [&](const RankPair& pair) {
      return !reasons_.contains(pair) && !represented.insert(alike(level, pair)).second;
    });
    return level;
  }

  void warn_of_missing(const Level& whole) {
    const Level level = without_represented(whole);
    if (level.without.empty()) return;
    const std::size_t pairs = level.with_fit.size() + level.without.size();
    links_.warnings.push_back(std::to_string(level.without.size()) + " of " + std::to_string(pairs) +
                              " links " + level.name + " were not measured: " + seen(level, " and others") +
                              ". They get the median of similar pairs (within a node: same kind of link; "
                              "between nodes: same two nodes) or, if none was measured, of the other " +
                              std::to_string(level.with_fit.size()) + ".");
  }

  const std::vector<PlacedRank>& ranks_;
  const LinkRules& rules_;
  std::map<RankPair, LinkRate> rates_;
  std::map<RankPair, std::string> reasons_;
  std::array<Level, kLinkLevelCount> levels_ = {Level{LinkLevel::within_node, "within nodes", {}, {}},
                                                Level{LinkLevel::within_zone, "between nodes", {}, {}},
                                                Level{LinkLevel::within_region, "between zones", {}, {}},
                                                Level{LinkLevel::between_regions, "between regions", {}, {}}};
  std::map<LinkLevel, LinkRate> filled_;
  ClusterLinks links_;
};

}  // namespace

ClusterLinks assemble_links(const std::vector<PlacedRank>& ranks,
                            const std::vector<LinkMeasurement>& measurements, const LinkRules& rules) {
  return RankLinks(ranks, measurements, rules).links();
}

}  // namespace sextant::inline probes
