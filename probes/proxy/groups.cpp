#include "probes/proxy/groups.h"

namespace sextant::proxy {
namespace {

int as_int(std::size_t i) { return static_cast<int>(i); }

int index_in_replica(const Replica& replica, const Position& position) {
  int index = position.shard;
  for (int stage = 0; stage < position.stage; ++stage) {
    index += replica.stages[static_cast<std::size_t>(stage)].width();
  }
  return index;
}

}  // namespace

std::optional<Position> position_of(const TaskPlan& plan, int rank) {
  for (std::size_t i = 0; i < plan.replicas.size(); ++i) {
    const auto& stages = plan.replicas[i].stages;
    for (std::size_t j = 0; j < stages.size(); ++j) {
      for (std::size_t k = 0; k < stages[j].devices.size(); ++k) {
        if (stages[j].devices[k].value == rank) return Position{as_int(i), as_int(j), as_int(k)};
      }
    }
  }
  return std::nullopt;
}

TaskGroup::TaskGroup(Communicator& world, const TaskPlan& plan) : position_(position_of(plan, world.rank())) {
  everyone_ = world.split(takes_part() ? 0 : -1, world.rank());
  if (!takes_part()) return;
  const Position& mine = *position_;
  my_replica_ = &plan.replicas[static_cast<std::size_t>(mine.replica)];
  replica_ = everyone_->split(mine.replica, index_in_replica(*my_replica_, mine));
  tensor_ = replica_->split(mine.stage, mine.shard);
  // Stages of unequal width never share a colour with another (stage, shard).
  data_ = everyone_->split(mine.stage * everyone_->size() + mine.shard, mine.replica);
}

StageShape stage_shape(const Model& model, const Replica& replica, const Position& position) {
  const Stage& stage = replica.stages[static_cast<std::size_t>(position.stage)];
  StageShape shape;
  shape.model = model;
  shape.shard = {position.shard, stage.width()};
  shape.layers = stage.layers;
  for (int before = 0; before < position.stage; ++before) {
    shape.first_layer += replica.stages[static_cast<std::size_t>(before)].layers;
  }
  return shape;
}

}  // namespace sextant::proxy
