#include "probes/cuda/proxy/device_weight_transfer.h"

namespace sextant::gpu {
namespace {

DeviceParameters* parameters_of(proxy::TaskWork* work) {
  return work == nullptr ? nullptr : &dynamic_cast<DeviceTask&>(*work).parameters();
}

}  // namespace

DeviceWeightTransfer::DeviceWeightTransfer(ProxyGpu& gpu, const proxy::WeightTransferSetup& setup)
    : gpu_(gpu), trained_(parameters_of(setup.trained)), generating_(parameters_of(setup.generating)) {
  const bool takes_part = trained_ != nullptr || generating_ != nullptr;
  everyone_ = setup.world.split(takes_part ? 0 : -1, setup.world.rank());
}

void DeviceWeightTransfer::run() {
  if (trained_ == nullptr || generating_ == nullptr) return;
  for (int block = 0; block < trained_->blocks(); ++block) {
    const DeviceMatrix from = trained_->block(block);
    const DeviceMatrix to = generating_->block(block);
    check_cuda(cudaMemcpyAsync(to.data, from.data, from.size() * sizeof(Bf16), cudaMemcpyDeviceToDevice,
                               gpu_.stream()),
               "copying weights");
  }
  gpu_.wait("copying weights");
}

}  // namespace sextant::gpu
