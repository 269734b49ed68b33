// A task on a GPU: one pipeline stage of it, with its weights in device memory, its place in the
// tensor-parallel group and its link to the neighbours.
#pragma once

#include <optional>

#include "probes/cuda/proxy/device_layer.h"
#include "probes/cuda/proxy/device_link.h"
#include "probes/cuda/proxy/device_parameters.h"
#include "probes/proxy/task_work.h"

namespace sextant::gpu {

class DeviceTask : public proxy::TaskWork {
 public:
  // Collective over the task's ranks.
  DeviceTask(ProxyGpu& gpu, const proxy::TaskSetup& setup, proxy::Purpose purpose);
  [[nodiscard]] DeviceParameters& parameters() { return parameters_; }
  // The collectives of the stage; null on one rank.
  [[nodiscard]] GpuCollectives* tensor() const { return tensor_.get(); }

 protected:
  [[nodiscard]] ProxyGpu& gpu() { return gpu_; }
  [[nodiscard]] const proxy::StageShape& shape() const { return parameters_.shape(); }
  [[nodiscard]] int hidden() const { return shape().model.hidden; }
  [[nodiscard]] const proxy::LayerShape& layer_shape() const { return context_.shape; }
  [[nodiscard]] const DeviceLayerContext& context() const { return context_; }
  [[nodiscard]] VocabularyPart vocabulary() const { return {shape().first_token(), shape().vocabulary()}; }
  // One rank of each replica's last stage writes the results.
  [[nodiscard]] bool writes_results() const { return shape().is_last() && shape().shard.rank == 0; }

  // Call it once, when the sizes of messages are known. Collective over the replica.
  void make_link(proxy::TaskGroup& group, const LinkSizes& sizes) { link_.emplace(gpu_, group, sizes); }
  [[nodiscard]] DeviceLink& link() { return *link_; }

  // Gets the stage's input for these tokens (of these slots): looked up on the first stage, else received.
  void take_input(const int* tokens, const int* slots, DeviceMatrix x);
  void look_up(const int* tokens, const int* slots, DeviceMatrix x);
  // Returns when the device has completed all work and the messages have been sent.
  void finish(const std::string& doing);

 private:
  ProxyGpu& gpu_;
  DeviceParameters parameters_;
  DeviceRotary rotary_;
  std::unique_ptr<GpuCollectives> tensor_;
  DeviceLayerContext context_;
  std::optional<DeviceLink> link_;
};

}  // namespace sextant::gpu
