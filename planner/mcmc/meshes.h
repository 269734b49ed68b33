// Device meshes of ReaL (Mei et al. 2024): what a task may run on.
#pragma once

#include <cstdint>
#include <vector>

#include "costmodel/vocabulary/cluster.h"
#include "planner/search_run.h"

namespace sextant {

using Mesh = std::vector<std::uint16_t>;  // devices, ascending

// Whole nodes that follow each other, and parts of one node: 1, 2, 4 ... devices side by side, as many as
// divide the node. In clusters of more than 16 nodes, runs of nodes have lengths of powers of two and start at
// their multiples, and all nodes are one too: all runs would be too many.
[[nodiscard]] std::vector<Mesh> device_meshes(const Cluster& cluster);

// One way to run a task: HetRL's levels 3 to 5 as ReaL cuts them, uniform degrees on a mesh.
struct MeshOption {
  std::uint32_t mesh = 0;
  int shape = 0;  // of the evaluator's table
  DeviceOrder order = DeviceOrder::by_replica;
};

// The options of every task on every mesh, or of a pinned one on its devices, made once: a proposal is a draw
// from it.
class MeshTable {
 public:
  // Stops early, and is then incomplete, when the run is over.
  explicit MeshTable(SearchRun& run);

  [[nodiscard]] const std::vector<MeshOption>& of(int task) const {
    return options_[static_cast<std::size_t>(task)];
  }
  // The fastest if the task were alone: where ReaL's search starts. The task must have an option.
  [[nodiscard]] const MeshOption& fastest(int task) const {
    return of(task)[fastest_[static_cast<std::size_t>(task)]];
  }
  [[nodiscard]] Placement placement(int task, const MeshOption& option) const;

 private:
  void add_options(std::size_t task, std::size_t mesh, const std::vector<Option>& options);

  Evaluator& evaluator_;
  std::vector<Mesh> meshes_;
  std::vector<std::vector<MeshOption>> options_;  // by task
  std::vector<std::size_t> fastest_;              // by task
  std::vector<double> least_s_;                   // that these take
};

}  // namespace sextant
