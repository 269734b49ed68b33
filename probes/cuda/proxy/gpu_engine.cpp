#include "probes/cuda/gpu_engine.h"

#include <algorithm>

#include "core/error.h"
#include "probes/cuda/proxy/device_generation.h"
#include "probes/cuda/proxy/device_inference.h"
#include "probes/cuda/proxy/device_training.h"
#include "probes/cuda/proxy/device_weight_transfer.h"
#include "probes/cuda/proxy/memory_budget.h"
#include "probes/cuda/proxy/nccl_gradient_sum.h"

namespace sextant {
namespace {

using namespace proxy;
using namespace gpu;

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

class GpuEngine final : public TaskEngine {
 public:
  GpuEngine(Communicator& world, int device) : world_(world), gpu_(device) {}

  [[nodiscard]] EngineLimits limits() const override {
    EngineLimits limits;
    limits.computes = "in bf16 on GPUs";
    limits.precision = Precision::bf16;
    limits.cuda_graphs = true;
    limits.value_heads = false;
    limits.splits_models = false;
    limits.moves_weights = false;
    limits.channel_multiple = kLengthMultiple;
    limits.head_dims = {64, 128};
    limits.most_heads_per_kv_head = 8;
    limits.most_tokens = kMostSoftmaxColumns;
    return limits;
  }

  void prepare(const Workflow& workflow, const Plan& plan, const Workload& workload) override {
    const auto needed = task_bytes(workflow, plan, workload, world_.rank());
    std::string refusal;
    try {
      check_memory(needed, static_cast<double>(gpu_.free_bytes()));
    } catch (const Error& error) {
      refusal = error.what();
    }
    double anywhere = refusal.empty() ? 0 : 1;
    world_.all_reduce_max(std::span(&anywhere, 1));
    if (!refusal.empty()) throw_bad_input(refusal);
    if (anywhere > 0) throw_bad_input("another rank's GPU has too little memory for the plan");
  }

  [[nodiscard]] std::unique_ptr<TaskWork> make_task(const TaskSetup& setup) override {
    switch (setup.task.kind) {
      case TaskKind::generation:
        return std::make_unique<DeviceGeneration>(gpu_, setup);
      case TaskKind::inference:
        return std::make_unique<DeviceInference>(gpu_, setup);
      case TaskKind::training:
        return std::make_unique<DeviceTraining>(
            gpu_, setup, setup.group.data().size() > 1 ? make_nccl_gradient_sum(setup.group.data()) : nullptr);
    }
    SEXTANT_CHECK(false && "every kind of task is handled");
    return nullptr;
  }

  [[nodiscard]] std::unique_ptr<WeightTransfer> make_weight_transfer(
      const WeightTransferSetup& setup) override {
    return std::make_unique<DeviceWeightTransfer>(gpu_, setup);
  }

  [[nodiscard]] std::map<std::string, std::string> notes() const override {
    return {{"blas", "cuBLASLt " + cublas_lt_version()}, {"device", gpu_.name()}};
  }
  [[nodiscard]] std::optional<double> peak_memory_bytes() const override {
    return static_cast<double>(gpu_.used_bytes());
  }

 private:
  Communicator& world_;
  ProxyGpu gpu_;
};

}  // namespace

GpuEngineOrReason make_gpu_engine(Communicator& world) {
  const int device = local_rank(world);
  const std::string reason = absence(device);
  double anywhere = reason.empty() ? 0 : 1;
  world.all_reduce_max(std::span(&anywhere, 1));
  if (!reason.empty()) return {nullptr, reason};
  if (anywhere > 0) return {nullptr, "another rank has no GPU"};
  return {std::make_unique<GpuEngine>(world, device), ""};
}

}  // namespace sextant
