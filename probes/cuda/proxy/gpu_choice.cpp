#include "probes/cuda/proxy/gpu_choice.h"

#include <algorithm>
#include <array>
#include <vector>

#include "probes/cuda/cuda_resources.h"
#include "probes/cuda/lt_matmul.h"

namespace sextant::gpu {
namespace {

// How many ranks of this host come before this one.
int local_rank(Communicator& world) {
  const std::vector<std::string> hosts = world.hosts();
  const auto mine = hosts.begin() + world.rank();
  return static_cast<int>(std::count(hosts.begin(), mine, *mine));
}

// Why this rank has no GPU; empty when it has one.
std::string absence(int device) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) return std::string("no GPU can be used: ") + cudaGetErrorString(status);
  if (device >= count) {
    return "this host has " + std::to_string(count) + " GPUs and at least " + std::to_string(device + 1) +
           " ranks: one rank a GPU";
  }
  check_cuda(cudaSetDevice(device), "selecting GPU " + std::to_string(device));
  LtMatmulSpec some;
  some.m = some.n = some.k = 64;
  return plan_lt_matmul(some).reason;
}

}  // namespace

GpuChoice choose_gpu(Communicator& world) {
  GpuChoice choice;
  choice.device = local_rank(world);
  choice.reason = absence(choice.device);
  std::array<double, 1> anywhere{choice.reason.empty() ? 0.0 : 1.0};
  world.all_reduce_max(std::span<double>(anywhere));
  if (choice.reason.empty() && anywhere[0] > 0) choice.reason = "another rank has no GPU";
  return choice;
}

}  // namespace sextant::gpu
