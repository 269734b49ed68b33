#include "planner/mcmc/meshes.h"

#include <limits>
#include <numeric>

namespace sextant::inline planner {
namespace {

Mesh run_of(int first, int count) {
  Mesh mesh(static_cast<std::size_t>(count));
  std::iota(mesh.begin(), mesh.end(), static_cast<std::uint16_t>(first));
  return mesh;
}

// begin: first device of every node, and the number of all devices last.
void add_runs_of_nodes(const std::vector<int>& begin, std::vector<Mesh>& meshes) {
  constexpr std::size_t kMaxNodes = 16;
  const std::size_t nodes = begin.size() - 1;
  const bool takes_all = nodes <= kMaxNodes;
  for (std::size_t length = 1; length <= nodes; length = takes_all ? length + 1 : 2 * length) {
    for (std::size_t n = 0; n + length <= nodes; n += takes_all ? 1 : length)
      meshes.push_back(run_of(begin[n], begin[n + length] - begin[n]));
  }
  const bool has_whole = meshes.back().size() == static_cast<std::size_t>(begin.back());
  if (!has_whole) meshes.push_back(run_of(0, begin.back()));
}

}  // namespace

std::vector<Mesh> device_meshes(const Cluster& cluster) {
  std::vector<Mesh> meshes;
  std::vector<int> begin = {0};
  for (const Node& node : cluster.nodes()) {
    for (int part = 1; part < node.devices && node.devices % part == 0; part *= 2) {
      for (int first = 0; first < node.devices; first += part)
        meshes.push_back(run_of(begin.back() + first, part));
    }
    begin.push_back(begin.back() + node.devices);
  }
  add_runs_of_nodes(begin, meshes);
  return meshes;
}

MeshTable::MeshTable(SearchRun& run) : meshes_(device_meshes(run.request().cluster)) {
  const auto tasks = static_cast<std::size_t>(run.evaluator().task_count());
  choices_.resize(tasks);
  fastest_.resize(tasks);
  min_s_.assign(tasks, std::numeric_limits<double>::infinity());
  const std::size_t all = meshes_.size();
  meshes_.reserve(all + tasks);  // choices point to them
  for (std::size_t t = 0; t < tasks; ++t) {
    const SearchRun::Pinned* pinned = run.pinned(static_cast<int>(t));
    if (pinned == nullptr || run.is_over()) continue;
    meshes_.push_back(pinned->devices);
    add_options(t, meshes_.size() - 1, run.options().of(static_cast<int>(t), pinned->devices));
  }
  for (std::size_t m = 0; m < all && !run.is_over(); ++m) {
    for (std::size_t t = 0; t < tasks; ++t) {
      const int task = static_cast<int>(t);
      if (run.pinned(task) == nullptr) add_options(t, m, run.options().of(task, meshes_[m]));
    }
  }
}

void MeshTable::add_options(std::size_t task, std::size_t mesh, const std::vector<Option>& options) {
  for (const Option& option : options) {
    if (option.value.time_s < min_s_[task]) {
      min_s_[task] = option.value.time_s;
      fastest_[task] = choices_[task].size();
    }
    choices_[task].push_back({&meshes_[mesh], &option});
  }
}

}  // namespace sextant::inline planner
