#include "probes/gpu/gpu_devices.h"

namespace sextant::inline probes {
namespace {

class AbsentDevices final : public GpuDevices {
 public:
  [[nodiscard]] std::string absence() const override { return "built without CUDA"; }
  [[nodiscard]] std::string versions() const override { return ""; }
  [[nodiscard]] std::vector<GpuFacts> list() const override { return {}; }
  [[nodiscard]] GpuOperationOrReason make(int /*device*/, const GpuWork& /*work*/) override {
    return {nullptr, absence()};
  }
};

}  // namespace

std::unique_ptr<GpuDevices> make_gpu_devices() { return std::make_unique<AbsentDevices>(); }

}  // namespace sextant::inline probes
