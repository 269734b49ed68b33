// A task that a GPU computes, with its weights in device memory.
#pragma once

#include "probes/cuda/proxy/device_layer.h"
#include "probes/cuda/proxy/device_parameters.h"
#include "probes/proxy/task_work.h"

namespace sextant::gpu {

class DeviceTask : public proxy::TaskWork {
 public:
  DeviceTask(ProxyGpu& gpu, const proxy::TaskSetup& setup, proxy::Purpose purpose);
  [[nodiscard]] DeviceParameters& parameters() { return parameters_; }

 protected:
  [[nodiscard]] ProxyGpu& gpu() { return gpu_; }
  [[nodiscard]] const Model& model() const { return parameters_.shape().model; }
  [[nodiscard]] const proxy::LayerShape& layer_shape() const { return context_.shape; }
  [[nodiscard]] const DeviceLayerContext& context() const { return context_; }

 private:
  ProxyGpu& gpu_;
  DeviceParameters parameters_;
  DeviceRotary rotary_;
  DeviceLayerContext context_;
};

}  // namespace sextant::gpu
