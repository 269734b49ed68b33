#include "probes/cuda/proxy/device_task.h"

namespace sextant::gpu {

DeviceTask::DeviceTask(ProxyGpu& gpu, const proxy::TaskSetup& setup, proxy::Purpose purpose)
    : gpu_(gpu),
      parameters_(gpu,
                  proxy::stage_shape(setup.workflow.model_of(setup.task), setup.group.my_replica(),
                                     setup.group.position()),
                  setup.seed, purpose),
      rotary_(gpu, parameters_.shape().model.head_dim, setup.workload.longest()),
      context_{gpu, proxy::layer_shape(parameters_.shape().model, parameters_.shape().shard), rotary_.table()} {
}

}  // namespace sextant::gpu
