// A plan, or one of its tasks, for programs that are no RL frameworks: inference servers, Megatron, Ray and Slurm.
//
// To add one: a source beside servers.cpp that returns a LaunchDialect, a declaration below, a row in launch.cpp,
// and the program's valid keys in tests/data/export.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reports/export/trainers/dialects.h"

namespace sextant::inline reports {

struct LaunchProblem {
  const Workflow& workflow;
  const Cluster& cluster;
  const FrameworkProfile& megatron;  // a profile with Megatron's limits
};

struct LaunchScript {
  std::string refusal;  // why the program cannot run it; empty: it can
  std::vector<ShellVariable> variables;
  std::string body;  // behind the variables
  std::vector<Unsaid> unsaid;
  std::vector<std::string> notes;
  Plan plan;  // the plan that the script runs
};

struct LaunchDialect {
  std::string_view name;  // "vllm"
  std::string_view version;
  LaunchScript (*write)(const Plan& plan, const LaunchProblem& problem);
  // Replaces what the script says in `plan`. Null: GPUs of tasks are all that it says. Throws Error(bad_input).
  void (*read)(std::string_view script, const LaunchProblem& problem, Plan& plan);
};

[[nodiscard]] std::span<const LaunchDialect> launch_table();
[[nodiscard]] const LaunchDialect* find_launch(std::string_view name);  // null: there is none

// The plan must be valid (check_plan) and state all its options.
[[nodiscard]] ExportedPlan export_launch(const Plan& plan, const LaunchProblem& problem,
                                         const LaunchDialect& dialect, const PlanTime& time = nullptr);

// The GPUs of one node, in the order of a list of devices.
struct NodeGpus {
  NodeId node;
  std::vector<int> gpus;  // numbers on the node

  [[nodiscard]] std::string list() const;  // "0,1,5"
};
// Nodes in the order of their first GPU.
[[nodiscard]] std::vector<NodeGpus> gpus_by_node(const std::vector<DeviceId>& devices, const Cluster& cluster);

// The reverse of NodeGpus::list. Throws Error(bad_input) if the node does not have these GPUs.
[[nodiscard]] std::vector<DeviceId> devices_on(NodeId node, std::string_view list, const Cluster& cluster);

// A line of Bash for each node: "case "$NODE" in ... esac", with lines[i] for nodes[i].
[[nodiscard]] std::string case_of_nodes(const std::vector<NodeId>& nodes, const std::vector<std::string>& lines,
                                        const Cluster& cluster);
// A line of such a case, without its indentation.
struct NodeLine {
  NodeId node;
  std::string_view text;
};
[[nodiscard]] std::vector<NodeLine> lines_of_nodes(std::string_view script, const Cluster& cluster);

[[nodiscard]] ShellVariable node_variable();

// Rows of the table.
[[nodiscard]] LaunchDialect vllm_launch();
[[nodiscard]] LaunchDialect sglang_launch();
[[nodiscard]] LaunchDialect megatron_launch();
[[nodiscard]] LaunchDialect ray_launch();
[[nodiscard]] LaunchDialect slurm_launch();

}  // namespace sextant::inline reports
