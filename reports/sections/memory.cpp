#include "core/json_value.h"
#include "core/units.h"
#include "reports/charts/plan_charts.h"
#include "reports/content/names.h"
#include "reports/sections/sections.h"

namespace sextant::inline reports {
namespace {

Cell interval_cell(const std::optional<MemoryTrust>& trust) {
  if (!trust) return empty_cell();
  const Interval& needed = trust->needed_bytes;
  return {format_bytes(needed.low) + " to " + format_bytes(needed.high),
          Json::array({needed.low, needed.high})};
}

Cell devices_cell(const std::vector<DeviceId>& devices, const Cluster* cluster) {
  if (devices.size() == 1) return {row_label(devices, cluster), devices.front().value};
  Json numbers = Json::array();
  for (const DeviceId device : devices) numbers.push_back(device.value);
  return {row_label(devices, cluster), std::move(numbers)};
}

// Many devices that need the same share a row.
std::vector<std::pair<std::vector<DeviceId>, DeviceMemory>> memory_rows(const Prediction& prediction) {
  std::map<DeviceId, DeviceMemory> by_device;
  for (const DeviceMemory& memory : prediction.memory) {
    by_device[memory.device] = memory;
    by_device[memory.device].device = DeviceId{0};  // only the rest is compared
  }
  return device_rows(by_device);
}

Table memory_table(const Prediction& prediction, const Cluster* cluster) {
  Table table{"memory",
              "Memory of each device",
              {{"device", "device"},
               {"resident_bytes", "resident", true},
               {"working_bytes", "working", true},
               {"needed_bytes", "needed", true},
               {"interval_bytes", "90 % interval", true},
               {"capacity_bytes", "capacity", true},
               {"fits", "fits"}},
              {}};
  for (const auto& [devices, memory] : memory_rows(prediction)) {
    table.rows.push_back({devices_cell(devices, cluster), bytes_cell(memory.resident_bytes),
                          bytes_cell(memory.working_bytes), bytes_cell(memory.needed_bytes()),
                          interval_cell(memory.trust), bytes_cell(memory.capacity_bytes),
                          Cell(describe_fit(memory.fits(), memory.trust), memory.fits())});
  }
  table.folded = table.rows.size() > 16;
  return table;
}

bool alike(const HostMemory& a, const HostMemory& b) {
  return a.capacity_bytes == b.capacity_bytes && a.needed_bytes == b.needed_bytes && a.trust == b.trust;
}

// Hosts that follow one another and need the same share a row.
std::vector<std::vector<const HostMemory*>> host_rows(const Prediction& prediction) {
  std::vector<std::vector<const HostMemory*>> rows;
  for (const HostMemory& memory : prediction.host_memory) {
    if (rows.empty() || !alike(*rows.back().back(), memory)) rows.emplace_back();
    rows.back().push_back(&memory);
  }
  return rows;
}

Cell hosts_cell(const std::vector<const HostMemory*>& hosts) {
  const std::string& first = hosts.front()->node;
  if (hosts.size() == 1) return first;
  Json names = Json::array();
  for (const HostMemory* host : hosts) names.push_back(host->node);
  return {first + " to " + hosts.back()->node + " (" + std::to_string(hosts.size()) + ")", std::move(names)};
}

Table host_memory_table(const Prediction& prediction) {
  Table table{"host_memory",
              "Memory of each host",
              {{"host", "host"},
               {"needed_bytes", "needed", true},
               {"interval_bytes", "90 % interval", true},
               {"capacity_bytes", "capacity", true},
               {"fits", "fits"}},
              {}};
  for (const std::vector<const HostMemory*>& hosts : host_rows(prediction)) {
    const HostMemory& memory = *hosts.front();
    const bool is_known = memory.capacity_bytes.has_value();
    table.rows.push_back({hosts_cell(hosts), bytes_cell(memory.needed_bytes), interval_cell(memory.trust),
                          is_known ? bytes_cell(*memory.capacity_bytes) : Cell("not stated", Json(nullptr)),
                          is_known ? Cell(describe_fit(memory.fits(), memory.trust), memory.fits())
                                   : Cell("not known", Json(nullptr))});
  }
  table.folded = table.rows.size() > 16;
  return table;
}

std::string host_text(const Prediction& prediction) {
  if (prediction.host_memory.empty()) return "";
  return " The memory of a host holds the states that tasks offload, and their copies.";
}

}  // namespace

std::optional<Section> memory_section(const ReportInput& input) {
  if (!input.prediction || input.prediction->content.memory.empty()) return std::nullopt;
  const Prediction& prediction = input.prediction->content;
  const Cluster* cluster = input.cluster ? &input.cluster->content : nullptr;
  Section section{"memory", "Memory", {}};
  section.blocks.emplace_back(Text{
      "Resident: weights, gradients and optimizer state of all tasks on the device. Working: the largest need "
      "of one task for activations, KV cache and buffers. Both are predicted from the shapes of the models." +
      host_text(prediction)});
  Json spec = charts::memory(prediction, cluster);
  if (!spec.is_null()) {
    section.blocks.emplace_back(
        Chart{"memory", "The bar must end before the red mark, the capacity of the device.", std::move(spec)});
  }
  section.blocks.emplace_back(memory_table(prediction, cluster));
  if (!prediction.host_memory.empty()) section.blocks.emplace_back(host_memory_table(prediction));
  return section;
}

}  // namespace sextant::inline reports
