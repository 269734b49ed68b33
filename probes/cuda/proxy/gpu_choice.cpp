#include "probes/cuda/proxy/gpu_choice.h"

#include <exception>
#include <vector>

#include "probes/collective/group_point.h"
#include "probes/cuda/cuda_resources.h"
#include "probes/cuda/lt_matmul.h"
#include "probes/gpu/gpu_of_rank.h"

namespace sextant::gpu {
namespace {

// Index and bus id only: more would put a context on GPUs of other ranks.
std::vector<GpuFacts> visible_gpus(std::string& absence) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  std::vector<GpuFacts> gpus;
  if (status != cudaSuccess) {
    absence = std::string("no GPU can be used: ") + cudaGetErrorString(status);
    return gpus;
  }
  for (int device = 0; device < count; ++device) {
    char bus_id[32] = "";
    if (cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, device) != cudaSuccess) continue;
    GpuFacts gpu;
    gpu.index = device;
    gpu.bus_id = bus_id;
    gpus.push_back(gpu);
  }
  if (gpus.empty()) absence = "no GPU can be used: the driver shows none";
  return gpus;
}

// Why nothing can be computed on it; empty when it can. Throws nothing: the other ranks wait for the answer.
std::string refusal(int device) {
  try {
    check_cuda(cudaSetDevice(device), "selecting GPU " + std::to_string(device));
    LtMatmulSpec some;
    some.m = some.n = some.k = 64;
    return plan_lt_matmul(some).reason;
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace

GpuChoice choose_gpu(Communicator& world) {
  std::string absence;
  const std::vector<GpuFacts> visible = visible_gpus(absence);
  const GpusOfRanks shared = share_out_gpus(world, absence, visible);
  GpuChoice choice;
  choice.device = shared.mine.index;
  choice.reason = shared.why_not_whole();
  if (!choice.reason.empty()) return choice;  // the same on every rank
  const std::string mine = refusal(choice.device);
  choice.reason = world.size() == 1 ? mine : first_complaint(world, mine);
  return choice;
}

}  // namespace sextant::gpu
