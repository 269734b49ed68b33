#include "planner/space/device_order.h"

namespace sextant {

Placement placed(const Shape& shape, int position, DeviceOrder order,
                 const std::vector<std::uint16_t>& devices) {
  Placement placement{position, devices};
  if (order == DeviceOrder::by_replica) return placement;
  const auto dp = static_cast<std::size_t>(shape.data_parallel());
  const auto pp = static_cast<std::size_t>(shape.pipeline_parallel());
  const auto tp = static_cast<std::size_t>(shape.tensor_parallel);
  for (std::size_t i = 0; i < dp; ++i) {
    for (std::size_t j = 0; j < pp; ++j) {
      for (std::size_t k = 0; k < tp; ++k) {
        placement.devices[(i * pp + j) * tp + k] = devices[(j * dp + i) * tp + k];
      }
    }
  }
  return placement;
}

}  // namespace sextant
