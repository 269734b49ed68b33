#include <cuda_runtime_api.h>

#include "probes/cuda/cuda_operations.h"
#include "probes/cuda/cuda_resources.h"
#include "probes/cuda/lt_matmul.h"
#include "probes/gpu/gpu_devices.h"

namespace sextant::inline probes {
namespace {

// 13000 is 13.0.
std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

GpuFacts facts_of(int device) {
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, device), "asking for the properties of a GPU");
  GpuFacts facts;
  facts.index = device;
  facts.name = properties.name;
  char bus_id[32] = "";
  check_cuda(cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, device), "asking where a GPU is");
  facts.bus_id = bus_id;
  facts.compute_capability = 10 * properties.major + properties.minor;
  facts.last_level_cache_bytes = properties.l2CacheSize;
  facts.is_ecc_on = properties.ECCEnabled != 0;
  check_cuda(cudaSetDevice(device), "selecting a GPU");
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  check_cuda(cudaMemGetInfo(&free_bytes, &total_bytes), "asking for free memory");
  facts.memory_bytes = static_cast<double>(total_bytes);
  facts.free_memory_bytes = static_cast<double>(free_bytes);
  return facts;
}

class CudaDevices final : public GpuDevices {
 public:
  CudaDevices() : status_(cudaGetDeviceCount(&count_)) {}

  [[nodiscard]] std::string absence() const override {
    if (status_ != cudaSuccess) return std::string("no GPU can be used: ") + cudaGetErrorString(status_);
    return count_ > 0 ? "" : "no GPU can be used: the driver shows none";
  }

  [[nodiscard]] std::string versions() const override {
    int driver = 0;
    int runtime = 0;
    std::string text;
    // 0 without a driver.
    if (cudaDriverGetVersion(&driver) == cudaSuccess && driver > 0) text = "driver " + version_text(driver);
    if (cudaRuntimeGetVersion(&runtime) == cudaSuccess) {
      text += (text.empty() ? "runtime " : ", runtime ") + version_text(runtime);
    }
    const std::string cublas = absence().empty() ? cublas_lt_version() : "";
    return cublas.empty() ? text : text + ", cuBLASLt " + cublas;
  }

  [[nodiscard]] std::vector<GpuFacts> list() const override {
    std::vector<GpuFacts> gpus;
    if (!absence().empty()) return gpus;
    for (int device = 0; device < count_; ++device) gpus.push_back(facts_of(device));
    return gpus;
  }

  [[nodiscard]] GpuOperationOrReason make(int device, const GpuWork& work) override {
    if (!absence().empty()) return {nullptr, absence()};
    return std::visit([device](const auto& one) { return make_cuda_operation(device, one); }, work);
  }

 private:
  int count_ = 0;
  cudaError_t status_;
};

}  // namespace

std::unique_ptr<GpuDevices> make_gpu_devices() { return std::make_unique<CudaDevices>(); }

}  // namespace sextant::inline probes
