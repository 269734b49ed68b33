// Device meshes of ReaL (Mei et al. 2024): the device sets on which a task may run.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/search/chain.h"
#include "sextant/cluster.h"

namespace sextant::inline planner {

using Mesh = std::vector<std::uint16_t>;  // devices, ascending

// Runs of consecutive whole nodes, and parts of one node: 1, 2, 4 ... adjacent devices, if that divides the
// node. In clusters of more than 16 nodes, runs have lengths of powers of two and start at multiples of their
// length, and all nodes together are a mesh too; all runs would be too many.
[[nodiscard]] std::vector<Mesh> device_meshes(const Cluster& cluster);

// The options of every task on every mesh, or of a pinned task on its devices, computed once: a proposal is a
// random entry of it.
class MeshTable {
 public:
  // Stops early if the run is over; the table is then incomplete.
  explicit MeshTable(SearchRun& run);
  MeshTable(const MeshTable&) = delete;
  MeshTable& operator=(const MeshTable&) = delete;

  // HetRL's levels 3 to 5 as in ReaL: uniform degrees on a mesh. By task; valid as long as the table.
  [[nodiscard]] const std::vector<std::vector<TaskChoice>>& choices() const { return choices_; }
  [[nodiscard]] const std::vector<TaskChoice>& of(int task) const {
    return choices_[static_cast<std::size_t>(task)];
  }
  // The task's fastest choice without other tasks: the start of ReaL's search. The task must have an option.
  [[nodiscard]] const TaskChoice& fastest(int task) const {
    return of(task)[fastest_[static_cast<std::size_t>(task)]];
  }

 private:
  void add_options(std::size_t task, std::size_t mesh, const std::vector<Option>& options);

  std::vector<Mesh> meshes_;
  std::vector<std::vector<TaskChoice>> choices_;  // by task
  std::vector<std::size_t> fastest_;              // by task
  std::vector<double> min_s_;                     // times of the fastest
};

}  // namespace sextant::inline planner
