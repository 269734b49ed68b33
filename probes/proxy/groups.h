// A rank's position in a task's plan, and its communicators there. Device d is world rank d.
#pragma once

#include <memory>
#include <optional>

#include "probes/comm/communicator.h"
#include "probes/proxy/model/shard.h"
#include "sextant/plan.h"

namespace sextant::proxy {

struct Position {
  int replica = 0;
  int stage = 0;
  int shard = 0;  // in the stage's tensor-parallel group
};
[[nodiscard]] std::optional<Position> position_of(const TaskPlan& plan, int rank);

class TaskGroup {
 public:
  // Collective over `world`.
  TaskGroup(Communicator& world, const TaskPlan& plan);

  [[nodiscard]] bool takes_part() const { return position_.has_value(); }
  // The members below are for ranks that take part.
  [[nodiscard]] const Position& position() const { return *position_; }
  [[nodiscard]] const Replica& my_replica() const { return *my_replica_; }
  [[nodiscard]] Communicator& everyone() { return *everyone_; }
  [[nodiscard]] Communicator& replica() { return *replica_; }  // in the order of Replica::devices()
  [[nodiscard]] Communicator& tensor() { return *tensor_; }    // in shard order
  // The same stage and shard in all replicas, which must have equal layouts.
  [[nodiscard]] Communicator& data() { return *data_; }

 private:
  std::optional<Position> position_;
  const Replica* my_replica_ = nullptr;
  std::unique_ptr<Communicator> everyone_;
  std::unique_ptr<Communicator> replica_;
  std::unique_ptr<Communicator> tensor_;
  std::unique_ptr<Communicator> data_;
};

[[nodiscard]] StageShape stage_shape(const Model& model, const Replica& replica, const Position& position);

}  // namespace sextant::proxy
