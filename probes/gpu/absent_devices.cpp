#include "probes/gpu/gpu_devices.h"

namespace sextant {
namespace {

class AbsentDevices final : public GpuDevices {
 public:
  [[nodiscard]] std::string absence() const override { return "built without CUDA"; }
  [[nodiscard]] std::string versions() const override { return ""; }
  [[nodiscard]] std::vector<GpuFacts> list() const override { return {}; }
  [[nodiscard]] GpuOperationOrReason gemm(int, Precision, const GemmShape&, bool) override { return none(); }
  [[nodiscard]] GpuOperationOrReason memory(int, GpuMemoryAccess, std::size_t) override { return none(); }
  [[nodiscard]] GpuOperationOrReason decode_attention(int, const AttentionShape&) override { return none(); }
  [[nodiscard]] GpuOperationOrReason prefill_attention(int, const AttentionShape&) override { return none(); }
  [[nodiscard]] GpuOperationOrReason launch(int, GpuLaunch, int) override { return none(); }
  [[nodiscard]] GpuOperationOrReason peer_copy(int, int, const GpuPeerCopy&, std::size_t) override {
    return none();
  }
  [[nodiscard]] GpuOperationOrReason transfer(int, const GpuTransfer&, std::size_t) override { return none(); }

 private:
  [[nodiscard]] GpuOperationOrReason none() const { return {nullptr, absence()}; }
};

}  // namespace

std::unique_ptr<GpuDevices> make_gpu_devices() { return std::make_unique<AbsentDevices>(); }

}  // namespace sextant
