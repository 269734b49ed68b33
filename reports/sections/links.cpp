#include "core/units.h"
#include "reports/charts/cluster_charts.h"
#include "reports/content/names.h"
#include "reports/sections/sections.h"

namespace sextant::inline reports {
namespace {

using charts::LinkEnd;
using charts::LinkProperty;

// Long names make a matrix unreadable; with many ends the axis shows numbers and the tooltip the names.
constexpr int kMaxNamedEnds = 16;

std::vector<LinkEnd> device_ends(const Cluster& cluster) {
  std::vector<LinkEnd> ends;
  for (int i = 0; i < cluster.device_count(); ++i) {
    const bool named = cluster.device_count() <= kMaxNamedEnds;
    ends.push_back({named ? cluster.device_name(DeviceId{i}) : std::to_string(i), DeviceId{i}});
  }
  return ends;
}

std::vector<LinkEnd> node_ends(const Cluster& cluster) {
  std::vector<LinkEnd> ends;
  int first = 0;
  for (const Node& node : cluster.nodes()) {
    const bool named = cluster.nodes().size() <= static_cast<std::size_t>(kMaxNamedEnds);
    ends.push_back({named ? node.name : std::to_string(ends.size()), DeviceId{first}});
    first += node.devices;
  }
  return ends;
}

void add_matrices(Section& section, const Cluster& cluster, const std::vector<LinkEnd>& ends) {
  section.blocks.emplace_back(Chart{"link_latency", "Latency of a small message; lighter is shorter.",
                                    charts::link_matrix(cluster, ends, LinkProperty::latency), false});
  section.blocks.emplace_back(Chart{"link_bandwidth", "Bandwidth of a large message; lighter is more.",
                                    charts::link_matrix(cluster, ends, LinkProperty::bandwidth), false});
}

Cell spread_cell(const Quantity& quantity) {
  return quantity.spread_fraction ? percent_cell(*quantity.spread_fraction) : empty_cell();
}

std::vector<Cell> rate_row(std::string where, const LinkRate& rate, bool has_capacity) {
  std::vector<Cell> row{std::move(where),
                        seconds_cell(rate.latency_s.value),
                        spread_cell(rate.latency_s),
                        shown_name(rate.latency_s.source),
                        {format_bytes_per_s(rate.bytes_per_s.value), rate.bytes_per_s.value},
                        spread_cell(rate.bytes_per_s),
                        shown_name(rate.bytes_per_s.source)};
  if (!has_capacity) return row;
  const auto& capacity = rate.capacity_bytes_per_s;
  row.push_back(capacity ? Cell{format_bytes_per_s(capacity->value), capacity->value} : empty_cell());
  return row;
}

Table link_table(const Cluster& cluster) {
  Table table{"links",
              "Links of the cluster document; the most specific one that matches two devices applies",
              {{"where", "link"},
               {"latency_s", "latency", true},
               {"latency_spread_fraction", "spread ±", true},
               {"latency_source", "source"},
               {"bytes_per_s", "bandwidth", true},
               {"bandwidth_spread_fraction", "spread ±", true},
               {"bandwidth_source", "source"}},
              {}};
  const bool has_capacity = cluster.has_trunks();
  if (has_capacity) table.columns.push_back({"capacity_bytes_per_s", "shared capacity", true});
  const auto add = [&](std::string where, const LinkRate& rate) {
    table.rows.push_back(rate_row(std::move(where), rate, has_capacity));
  };
  for (const auto& [level, rate] : cluster.levels()) add(shown_name(level), rate);
  for (const Node& node : cluster.nodes()) {
    if (node.link) add("within node " + node.name, *node.link);
  }
  for (const LinkException& exception : cluster.exceptions()) {
    const std::string arrow = exception.both_ways ? " ↔ " : " → ";
    add(shown_name(exception.scope) + " " + exception.from + arrow + exception.to, exception.rate);
  }
  table.folded = table.rows.size() > 24;
  return table;
}

}  // namespace

std::optional<Section> links_section(const ReportInput& input) {
  if (!input.cluster) return std::nullopt;
  const Cluster& cluster = input.cluster->content;
  const std::size_t nodes = cluster.nodes().size();
  Section section{"links", "Links", {}};
  std::string text = "A message of n bytes takes latency + n / bandwidth, point to point in one direction. ";
  if (cluster.device_count() < 2) {
    section.blocks.emplace_back(Text{"The cluster has a single device, so there are no links to show."});
    return section;
  }
  if (cluster.device_count() <= charts::kMaxLinkEnds) {
    section.blocks.emplace_back(Text{text + "Each cell is a pair of devices."});
    add_matrices(section, cluster, device_ends(cluster));
  } else if (nodes >= 2 && nodes <= static_cast<std::size_t>(charts::kMaxLinkEnds)) {
    section.blocks.emplace_back(
        Text{text + "Each cell is a pair of nodes, shown by the first device of each."});
    add_matrices(section, cluster, node_ends(cluster));
  } else {
    section.blocks.emplace_back(Text{text + "There are too many devices for a readable matrix."});
  }
  Table table = link_table(cluster);
  if (!table.rows.empty()) section.blocks.emplace_back(std::move(table));
  return section;
}

}  // namespace sextant::inline reports
