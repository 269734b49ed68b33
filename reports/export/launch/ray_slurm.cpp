// The GPUs of a plan as a Ray cluster, by "ray start" on each node, and as a Slurm job that starts one. Options are
// those of Ray 2 (docs.ray.io, Cluster Management CLI) and of the manual pages of sbatch and srun
// (Slurm 24.05, slurm.schedmd.com).
//
// A pool is a custom resource of its name, so that a program can ask for its GPUs. Layouts inside a pool are those of
// the framework that runs there.
#include <algorithm>
#include <map>
#include <set>

#include "core/json_value.h"
#include "reports/export/launch/launch.h"
#include "sextant/error.h"

namespace sextant::inline reports {
namespace {

struct RayNode {
  NodeGpus all;
  std::map<std::string, int> pools;  // GPUs by pool
};

std::vector<RayNode> ray_nodes(const Plan& plan, const LaunchProblem& problem) {
  const std::vector<GpuPool> pools = gpu_pools(plan, problem.workflow, problem.cluster);
  std::set<DeviceId> all;
  for (const GpuPool& pool : pools) all.insert(pool.devices.begin(), pool.devices.end());
  std::vector<RayNode> nodes;
  for (const NodeGpus& one : gpus_by_node({all.begin(), all.end()}, problem.cluster)) {
    RayNode& node = nodes.emplace_back(RayNode{one, {}});
    for (const GpuPool& pool : pools) {
      for (const NodeGpus& of_pool : gpus_by_node(pool.devices, problem.cluster)) {
        if (of_pool.node == one.node) node.pools[pool.name] = static_cast<int>(of_pool.gpus.size());
      }
    }
  }
  return nodes;
}

// "--num-gpus=8 --resources='{"trainer":8}'"
std::string ray_options(const RayNode& node) {
  return "--num-gpus=" + std::to_string(node.all.gpus.size()) + " --resources='" + Json(node.pools).dump() +
         "'";
}

std::vector<std::string> ray_notes() {
  return {
      "A pool is a custom resource: ask for {\"trainer\": 1} with a GPU to be placed in the pool \"trainer\".",
      "Ray chooses which GPUs of a node a pool gets; layouts are those of the framework that runs there."};
}

LaunchScript write_ray(const Plan& plan, const LaunchProblem& problem) {
  LaunchScript script;
  script.plan = plan;
  const std::vector<RayNode> nodes = ray_nodes(plan, problem);
  std::vector<NodeId> ids;
  std::vector<std::string> lines;
  for (const RayNode& node : nodes) {
    const std::string where = ids.empty() ? "--head --port=6379" : "--address=\"$HEAD_ADDRESS:6379\"";
    lines.push_back("    CUDA_VISIBLE_DEVICES=" + node.all.list() + " ray start " + where + " " +
                    ray_options(node) + "\n");
    ids.push_back(node.all.node);
  }
  const std::string& first = problem.cluster.nodes()[static_cast<std::size_t>(ids.front().value)].name;
  script.variables = {node_variable(),
                      {"HEAD_ADDRESS", "address of the first node", quoted_for_shell(as_comment(first))}};
  script.notes = ray_notes();
  script.notes.emplace_back(
      "Run it on every node, the first one first; then the framework's script on that one.");
  script.body = case_of_nodes(ids, lines, problem.cluster);
  return script;
}

// Consecutive nodes of one GPU type with equally many GPUs: a component of a heterogeneous job.
struct SlurmGroup {
  std::string type;
  std::size_t gpus = 0;
  int nodes = 0;
};

std::vector<SlurmGroup> slurm_groups(const std::vector<RayNode>& nodes, const Cluster& cluster) {
  std::vector<SlurmGroup> groups;
  for (const RayNode& node : nodes) {
    const Node& of = cluster.nodes()[static_cast<std::size_t>(node.all.node.value)];
    const auto gpus = static_cast<std::size_t>(of.devices);
    if (groups.empty() || groups.back().type != of.device_type || groups.back().gpus != gpus)
      groups.push_back({of.device_type, gpus, 0});
    ++groups.back().nodes;
  }
  return groups;
}

LaunchScript write_slurm(const Plan& plan, const LaunchProblem& problem) {
  LaunchScript script;
  script.plan = plan;
  const std::vector<RayNode> nodes = ray_nodes(plan, problem);
  const std::vector<SlurmGroup> groups = slurm_groups(nodes, problem.cluster);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (i > 0) script.body += "#SBATCH hetjob\n";
    script.body += "#SBATCH --nodes=" + std::to_string(groups[i].nodes) +
                   "\n#SBATCH --gpus-per-node=" + std::to_string(groups[i].gpus) +
                   "\n#SBATCH --ntasks-per-node=1\n#SBATCH --exclusive\n";
    script.notes.push_back("Part " + std::to_string(i) + " of the job has " + std::to_string(groups[i].nodes) +
                           " nodes of " + as_comment(groups[i].type) +
                           ": add its --partition or --constraint.");
  }
  script.body +=
      "\n# The GPUs of each node and its share of the pools, in the order of the nodes of the job.\ngpus=(";
  for (const RayNode& node : nodes) script.body += " " + node.all.list();
  script.body += " )\nresources=(";
  for (const RayNode& node : nodes) script.body += " '" + Json(node.pools).dump() + "'";
  script.body += " )\nhosts=() parts=()\n";
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::string part = std::to_string(i);
    const std::string list = groups.size() == 1 ? "SLURM_JOB_NODELIST" : "SLURM_JOB_NODELIST_HET_GROUP_" + part;
    script.body += "for host in $(scontrol show hostnames \"$" + list + "\"); do hosts+=(\"$host\") parts+=(" +
                   part + "); done\n";
  }
  script.body += R"(
start() {  # the number of a node, and where it connects to
  local count
  count=$(tr ',' '\n' <<< "${gpus[$1]}" | wc -l)
  srun )" + std::string(groups.size() == 1 ? "" : "--het-group=\"${parts[$1]}\" ") +
                 R"(--nodes=1 --ntasks=1 --nodelist="${hosts[$1]}" --overlap \
    env CUDA_VISIBLE_DEVICES="${gpus[$1]}" ray start "$2" --num-gpus="$count" --resources="${resources[$1]}" --block &
}

export RAY_ADDRESS="${hosts[0]}:6379"
start 0 --head
sleep 20
for ((i = 1; i < ${#hosts[@]}; i++)); do start "$i" --address="$RAY_ADDRESS"; done
sleep 20
srun )" + std::string(groups.size() == 1 ? "" : "--het-group=0 ") +
                 R"(--nodes=1 --ntasks=1 --nodelist="${hosts[0]}" --overlap "$@"
)";
  std::vector<std::string> notes = ray_notes();
  notes.emplace_back("Usage: sbatch FILE bash run.sh, with the framework's script.");
  script.notes.insert(script.notes.begin(), notes.begin(), notes.end());
  return script;
}

}  // namespace

LaunchDialect ray_launch() { return {"ray", "2", write_ray, nullptr}; }

LaunchDialect slurm_launch() { return {"slurm", "24.05", write_slurm, nullptr}; }

}  // namespace sextant::inline reports
