// Device meshes of ReaL (Mei et al. 2024): what a task may run on.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/search/chain.h"
#include "sextant/cluster.h"

namespace sextant {

using Mesh = std::vector<std::uint16_t>;  // devices, ascending

// Whole nodes that follow each other, and parts of one node: 1, 2, 4 ... devices side by side, as many as
// divide the node. In clusters of more than 16 nodes, runs of nodes have lengths of powers of two and start at
// their multiples, and all nodes are one too: all runs would be too many.
[[nodiscard]] std::vector<Mesh> device_meshes(const Cluster& cluster);

// The options of every task on every mesh, or of a pinned one on its devices, made once: a proposal is a draw
// from it.
class MeshTable {
 public:
  // Stops early, and is then incomplete, when the run is over.
  explicit MeshTable(SearchRun& run);
  MeshTable(const MeshTable&) = delete;
  MeshTable& operator=(const MeshTable&) = delete;

  // HetRL's levels 3 to 5 as ReaL cuts them: uniform degrees on a mesh. By task; valid as long as the table.
  [[nodiscard]] const std::vector<std::vector<TaskChoice>>& choices() const { return choices_; }
  [[nodiscard]] const std::vector<TaskChoice>& of(int task) const {
    return choices_[static_cast<std::size_t>(task)];
  }
  // The fastest if the task were alone: where ReaL's search starts. The task must have an option.
  [[nodiscard]] const TaskChoice& fastest(int task) const {
    return of(task)[fastest_[static_cast<std::size_t>(task)]];
  }

 private:
  void add_options(std::size_t task, std::size_t mesh, const std::vector<Option>& options);

  std::vector<Mesh> meshes_;
  std::vector<std::vector<TaskChoice>> choices_;  // by task
  std::vector<std::size_t> fastest_;              // by task
  std::vector<double> min_s_;                     // that these take
};

}  // namespace sextant
