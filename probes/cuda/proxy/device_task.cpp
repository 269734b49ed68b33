#include "probes/cuda/proxy/device_task.h"

namespace sextant::gpu {

DeviceTask::DeviceTask(ProxyGpu& gpu, const proxy::TaskSetup& setup, proxy::Purpose purpose)
    : gpu_(gpu),
      parameters_(gpu,
                  proxy::stage_shape(setup.workflow.model_of(setup.task), setup.group.my_replica(),
                                     setup.group.position()),
                  setup.seed, purpose),
      rotary_(gpu, parameters_.shape().model.head_dim, setup.workload.longest()),
      tensor_(make_gpu_collectives(setup.group.tensor())),
      context_{gpu, proxy::layer_shape(parameters_.shape().model, parameters_.shape().shard), rotary_.table(),
               tensor_.get()} {}

void DeviceTask::look_up(const int* tokens, const int* slots, DeviceMatrix x) {
  embed(parameters_.embedding().data, vocabulary(), tokens, slots, x.rows, x.columns, x.data, gpu_.stream());
  if (tensor_ != nullptr) tensor_->all_reduce_sum(x.data, x.size(), gpu_.stream());
}

void DeviceTask::take_input(const int* tokens, const int* slots, DeviceMatrix x) {
  if (shape().is_first()) {
    look_up(tokens, slots, x);
  } else {
    link_->receive_forward(x);
  }
}

void DeviceTask::finish(const std::string& doing) {
  gpu_.wait(doing);
  link_->finish();
}

}  // namespace sextant::gpu
