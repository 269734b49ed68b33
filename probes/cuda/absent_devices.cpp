#include "probes/cuda/gpu_devices.h"

namespace sextant {
namespace {

class AbsentDevices final : public GpuDevices {
 public:
  [[nodiscard]] std::string absence() const override { return "built without CUDA"; }
  [[nodiscard]] std::string versions() const override { return ""; }
  [[nodiscard]] std::vector<GpuFacts> list() const override { return {}; }
  [[nodiscard]] GpuOperationOrReason square_gemm(int, Precision, int) override { return {nullptr, absence()}; }
  [[nodiscard]] GpuOperationOrReason copy(int, std::size_t) override { return {nullptr, absence()}; }
  [[nodiscard]] GpuOperationOrReason read(int, std::size_t) override { return {nullptr, absence()}; }
};

}  // namespace

std::unique_ptr<GpuDevices> make_gpu_devices() { return std::make_unique<AbsentDevices>(); }

}  // namespace sextant
