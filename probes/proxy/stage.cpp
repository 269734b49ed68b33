#include "probes/proxy/stage.h"

#include "probes/proxy/model/embedding.h"

namespace sextant::proxy {

StageWorker::StageWorker(const TaskSetup& setup, Purpose purpose)
    : rotary_(setup.workflow.model_of(setup.task).head_dim, setup.workload.longest()),
      parameters_(
          stage_shape(setup.workflow.model_of(setup.task), setup.group.my_replica(), setup.group.position()),
          setup.seed, purpose),
      context_{proxy::layer_shape(shape().model, shape().shard), &setup.group.tensor(), &rotary_},
      link_(setup.world, setup.group.my_replica(), setup.group.position(), setup.number) {}

void StageWorker::take_input(std::span<const int> tokens, Matrix x) {
  if (shape().is_first()) {
    embed(tensor(), parameters_.embedding(), shape().first_token(), tokens, x);
  } else {
    link_.receive_forward(x.flat());
  }
}

}  // namespace sextant::proxy
