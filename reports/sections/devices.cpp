#include "core/units.h"
#include "reports/content/names.h"
#include "reports/sections/sections.h"

namespace sextant::inline reports {
namespace {

Table rate_table() {
  return {"device_rates",
          "Rates of the device types",
          {{"device_type", "device type"},
           {"quantity", "quantity"},
           {"value", "value", true},
           {"spread_fraction", "spread ±", true},
           {"source", "source"},
           {"time_utc", "measured"},
           {"note", "how"}},
          {}};
}

void add_row(Table& table, const std::string& type, const std::string& what, const Quantity& quantity,
             Cell value) {
  table.rows.push_back({type, what, std::move(value),
                        quantity.spread_fraction ? percent_cell(*quantity.spread_fraction) : empty_cell(),
                        shown_name(quantity.source),
                        quantity.time_utc ? Cell(*quantity.time_utc) : empty_cell(),
                        quantity.note ? Cell(*quantity.note) : empty_cell()});
}

void add_type(Table& table, const std::string& name, const DeviceType& type) {
  for (const auto& [precision, rate] : type.flop_per_s) {
    add_row(table, name, std::string(name_of(precision)) + " matrix products", rate,
            {format_flop_per_s(rate.value), rate.value});
  }
  add_row(table, name, "memory read rate", type.memory_bytes_per_s,
          {format_bytes_per_s(type.memory_bytes_per_s.value), type.memory_bytes_per_s.value});
  add_row(table, name, "memory capacity", type.memory_bytes, bytes_cell(type.memory_bytes.value));
  if (const auto& price = type.price_usd_per_hour) {
    add_row(table, name, "price", *price, {format_number(price->value) + " USD/h", price->value});
  }
}

Table node_table(const Cluster& cluster) {
  Table table{"nodes",
              "Nodes",
              {{"name", "node"},
               {"region", "region"},
               {"zone", "zone"},
               {"device_type", "device type"},
               {"devices", "devices", true},
               {"host_memory_bytes", "host memory", true}},
              {},
              cluster.nodes().size() > 24};
  for (const Node& node : cluster.nodes()) {
    table.rows.push_back({node.name, node.region, node.zone, node.device_type,
                          count_cell(static_cast<std::size_t>(node.devices)),
                          node.host_memory_bytes ? bytes_cell(*node.host_memory_bytes) : empty_cell()});
  }
  return table;
}

}  // namespace

std::optional<Section> devices_section(const ReportInput& input) {
  if (!input.cluster) return std::nullopt;
  const Cluster& cluster = input.cluster->content;
  Section section{"devices", "Devices", {}};
  section.blocks.emplace_back(
      Text{"Rates that each device type reaches on its own. The spread is half the 95 % confidence interval of "
           "the median, relative to the median. Numbers that were not measured here are marked."});
  Table rates = rate_table();
  for (const auto& [name, type] : cluster.device_types()) add_type(rates, name, type);
  section.blocks.emplace_back(std::move(rates));
  section.blocks.emplace_back(node_table(cluster));
  return section;
}

}  // namespace sextant::inline reports
