// One rank's pipeline stage of one task: its weights, its position in the groups and its link to the
// neighbours. Generation, inference and training drive it in three ways.
#pragma once

#include "probes/proxy/link.h"
#include "probes/proxy/model/layer.h"
#include "probes/proxy/task_work.h"

namespace sextant::proxy {

class StageWorker {
 public:
  StageWorker(const TaskSetup& setup, Purpose purpose);
  StageWorker(const StageWorker&) = delete;
  StageWorker& operator=(const StageWorker&) = delete;

  [[nodiscard]] const StageShape& shape() const { return parameters_.shape(); }
  [[nodiscard]] const LayerShape& layer_shape() const { return context_.shape; }
  [[nodiscard]] const LayerContext& context() const { return context_; }
  [[nodiscard]] StageParameters& parameters() { return parameters_; }
  [[nodiscard]] StageLink& link() { return link_; }
  [[nodiscard]] Communicator& tensor() { return *context_.tensor; }
  [[nodiscard]] int hidden() const { return shape().model.hidden; }
  // One rank of each replica's last stage writes the results.
  [[nodiscard]] bool writes_results() const { return shape().is_last() && shape().shard.rank == 0; }

  // Gets the stage's input for these tokens: the first stage looks it up, the others receive it.
  void take_input(std::span<const int> tokens, Matrix x);

 private:
  Rotary rotary_;
  StageParameters parameters_;
  LayerContext context_;
  StageLink link_;
};

}  // namespace sextant::proxy
