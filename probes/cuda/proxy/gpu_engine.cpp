#include "probes/gpu/gpu_engine.h"

#include <algorithm>

#include "probes/cuda/proxy/device_generation.h"
#include "probes/cuda/proxy/device_inference.h"
#include "probes/cuda/proxy/device_training.h"
#include "probes/cuda/proxy/device_weight_transfer.h"
#include "probes/cuda/proxy/gpu_choice.h"
#include "probes/cuda/proxy/gpu_collectives.h"
#include "probes/gpu/proxy/memory_budget.h"
#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

using namespace proxy;
using namespace gpu;

class GpuEngine final : public TaskEngine {
 public:
  GpuEngine(Communicator& world, int device) : world_(world), gpu_(device) {}

  [[nodiscard]] EngineLimits limits() const override {
    EngineLimits limits;
    limits.computes = "in bf16 on GPUs";
    limits.precision = Precision::bf16;
    limits.cuda_graphs = true;
    limits.value_heads = false;
    limits.channel_multiple = kLengthMultiple;
    limits.head_dims = {64, 128};
    limits.max_heads_per_kv_head = 8;
    limits.token_limit = kMaxSoftmaxColumns;
    return limits;
  }

  void prepare(const Workflow& workflow, const Plan& plan, const Workload& workload) override {
    // The peak counts buffers of this session, and of earlier sessions that still exist.
    DeviceBuffer::reset_peak();
    beside_buffers_bytes_ = 0;
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
        return std::make_unique<DeviceTraining>(gpu_, setup);
    }
    SEXTANT_CHECK(false && "every kind of task is handled");
    return nullptr;
  }

  [[nodiscard]] std::unique_ptr<WeightTransfer> make_weight_transfer(
      const WeightTransferSetup& setup) override {
    auto transfer = std::make_unique<DeviceWeightTransfer>(gpu_, setup);
    // The last that is made: all groups of GPUs have come together.
    beside_buffers_bytes_ = std::max(beside_buffers_bytes_, gpu_.bytes_beside_buffers());
    return transfer;
  }

  [[nodiscard]] std::map<std::string, std::string> notes() const override {
    std::map<std::string, std::string> notes{{"blas", "cuBLASLt " + cublas_lt_version()},
                                             {"device", gpu_.name()}};
    if (world_.size() > 1) notes["collectives"] = gpu_collectives_version();
    return notes;
  }
  // The most that the buffers took at a time, and the most that was seen beside them: libraries and NCCL take
  // theirs at first use and keep it.
  [[nodiscard]] std::optional<double> peak_memory_bytes() const override {
    const std::size_t beside = std::max(beside_buffers_bytes_, gpu_.bytes_beside_buffers());
    return static_cast<double>(DeviceBuffer::use().peak_bytes + beside);
  }

 private:
  Communicator& world_;
  ProxyGpu gpu_;
  std::size_t beside_buffers_bytes_ = 0;  // the most seen in this session
};

}  // namespace

GpuEngineOrReason make_gpu_engine(Communicator& world) {
  const GpuChoice choice = choose_gpu(world);
  if (!choice.reason.empty()) return {nullptr, choice.reason};
  return {std::make_unique<GpuEngine>(world, choice.device), ""};
}

}  // namespace sextant::inline probes
