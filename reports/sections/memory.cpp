#include "core/json_value.h"
#include "reports/charts/plan_charts.h"
#include "reports/content/names.h"
#include "reports/sections/sections.h"

namespace sextant {
namespace {

Table memory_table(const Prediction& prediction, const Cluster* cluster) {
  Table table{"memory",
              "Memory of each device",
              {{"device", "device"},
               {"resident_bytes", "resident", true},
               {"working_bytes", "working", true},
               {"needed_bytes", "needed", true},
               {"capacity_bytes", "capacity", true},
               {"fits", "fits"}},
              {},
              prediction.memory.size() > 16};
  for (const DeviceMemory& memory : prediction.memory) {
    table.rows.push_back({{device_label(memory.device, cluster), memory.device.value},
                          bytes_cell(memory.resident_bytes),
                          bytes_cell(memory.working_bytes),
                          bytes_cell(memory.needed_bytes()),
                          bytes_cell(memory.capacity_bytes),
                          {describe_fit(memory.fits(), memory.trust), memory.fits()}});
  }
  return table;
}

}  // namespace

std::optional<Section> memory_section(const ReportInput& input) {
  if (!input.prediction || input.prediction->content.memory.empty()) return std::nullopt;
  const Prediction& prediction = input.prediction->content;
  const Cluster* cluster = input.cluster ? &input.cluster->content : nullptr;
  Section section{"memory", "Memory", {}};
  section.blocks.emplace_back(Text{
      "Resident: weights, gradients and optimizer state of all tasks on the device. Working: the largest need "
      "of one task for activations, KV cache and buffers. Both are predicted from the shapes of the models."});
  Json spec = charts::memory(prediction, cluster);
  if (!spec.is_null()) {
    section.blocks.emplace_back(
        Chart{"memory", "The bar must end before the red mark, the capacity of the device.", std::move(spec)});
  }
  section.blocks.emplace_back(memory_table(prediction, cluster));
  return section;
}

}  // namespace sextant
