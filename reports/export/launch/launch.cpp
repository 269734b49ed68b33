#include "reports/export/launch/launch.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "sextant/error.h"

namespace sextant::inline reports {
namespace {

std::string comment(const std::string& text) { return "# " + as_comment(text) + "\n"; }

int first_device(NodeId node, const Cluster& cluster) {
  int first = 0;
  for (int i = 0; i < node.value; ++i) first += cluster.nodes()[static_cast<std::size_t>(i)].devices;
  return first;
}

}  // namespace

std::span<const LaunchDialect> launch_table() {
  static const std::array kTable{megatron_launch(), vllm_launch(), sglang_launch(), ray_launch(),
                                 slurm_launch()};
  return kTable;
}

const LaunchDialect* find_launch(std::string_view name) {
  const std::span<const LaunchDialect> table = launch_table();
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const LaunchDialect& one) { return one.name == name; });
  return found == table.end() ? nullptr : &*found;
}

ExportedPlan export_launch(const Plan& plan, const LaunchProblem& problem, const LaunchDialect& dialect,
                           const PlanTime& time) {
  const LaunchScript script = dialect.write(plan, problem);
  ExportedPlan out;
  out.refusal = script.refusal;
  out.plan = script.plan;
  if (!out.refusal.empty()) return out;
  out.unsaid = with_costs(plan, script.unsaid, time);
  out.notes = script.notes;
  out.text = "#!/usr/bin/env bash\n";
  const std::size_t first_options = script.body.find("#SBATCH");  // Slurm reads them before any command
  const bool has_options = first_options == 0;
  const std::size_t end = has_options ? script.body.find("\n\n") + 1 : 0;
  out.text += script.body.substr(0, end);
  out.text += comment("Written by sextant export for " + std::string(dialect.name) + ", version " +
                      std::string(dialect.version) + ".");
  out.text += comment("Plan: " + plan.name) + comment("Cluster: " + problem.cluster.name()) + "#\n# Tasks:\n";
  for (const auto& [name, task] : out.plan.tasks) out.text += comment("  " + name + " " + describe(task));
  if (!out.unsaid.empty()) out.text += "#\n# Not as the plan has it:\n";
  for (const std::string& sentence : out.unsaid) out.text += comment("  - " + sentence);
  if (!out.notes.empty()) out.text += "#\n# Notes:\n";
  for (const std::string& sentence : out.notes) out.text += comment("  - " + sentence);
  out.text += "set -euo pipefail\n\n" + variables_text(script.variables) + "\n" + script.body.substr(end);
  return out;
}

std::string NodeGpus::list() const {
  std::string out;
  for (const int gpu : gpus) out += (out.empty() ? "" : ",") + std::to_string(gpu);
  return out;
}

std::vector<NodeGpus> gpus_by_node(const std::vector<DeviceId>& devices, const Cluster& cluster) {
  std::vector<NodeGpus> out;
  for (const DeviceId device : devices) {
    const NodeId node = cluster.node_of(device);
    const auto found =
        std::find_if(out.begin(), out.end(), [&](const NodeGpus& one) { return one.node == node; });
    NodeGpus& of_node = found == out.end() ? out.emplace_back(NodeGpus{node, {}}) : *found;
    of_node.gpus.push_back(device.value - first_device(node, cluster));
  }
  return out;
}

std::vector<DeviceId> devices_on(NodeId node, std::string_view list, const Cluster& cluster) {
  const Node& of = cluster.nodes()[static_cast<std::size_t>(node.value)];
  std::vector<DeviceId> out;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t comma = std::min(list.find(',', at), list.size());
    int gpu = 0;
    const auto [end, error] = std::from_chars(list.data() + at, list.data() + comma, gpu);
    if (error != std::errc() || end != list.data() + comma || gpu < 0 || gpu >= of.devices)
      throw_bad_input(of.name + " has no GPU \"" + std::string(list.substr(at, comma - at)) + "\"");
    out.push_back(DeviceId{first_device(node, cluster) + gpu});
    at = comma + 1;
  }
  return out;
}

std::string case_of_nodes(const std::vector<NodeId>& nodes, const std::vector<std::string>& lines,
                          const Cluster& cluster) {
  std::string out = "case \"$NODE\" in\n";
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::string& name = cluster.nodes()[static_cast<std::size_t>(nodes[i].value)].name;
    out += "  " + quoted_for_shell(as_comment(name)) + ")\n" + lines[i] + "    ;;\n";
  }
  return out +
         "  *)\n    echo \"$NODE has no part in the plan: set NODE to the name of a node above\" >&2\n    exit "
         "2\n" +
         "    ;;\nesac\n";
}

std::vector<NodeLine> lines_of_nodes(std::string_view script, const Cluster& cluster) {
  std::vector<NodeLine> out;
  constexpr std::string_view kCase = "case \"$NODE\" in\n", kIndent = "    ";
  const std::size_t begin = script.find(kCase);
  if (begin == std::string_view::npos) throw_bad_input("the script has no part for each node");
  script.remove_prefix(begin + kCase.size());
  NodeId node{-1};
  while (!script.empty()) {
    const std::size_t end = std::min(script.find('\n'), script.size());
    const std::string_view line = script.substr(0, end);
    script.remove_prefix(std::min(end + 1, script.size()));
    if (line == "esac" || line == "  *)") break;
    if (line.starts_with(kIndent)) {
      const std::string_view text = line.substr(kIndent.size());
      if (text != ";;") out.push_back({node, text});
      continue;
    }
    node = NodeId{-1};
    int number = 0;
    for (const Node& one : cluster.nodes()) {
      if (line == "  " + quoted_for_shell(as_comment(one.name)) + ")") node = NodeId{number};
      ++number;
    }
    if (node.value < 0) throw_bad_input("the cluster has no node \"" + std::string(line) + "\"");
  }
  return out;
}

ShellVariable node_variable() { return {"NODE", "name of this node, as in the cluster", "$(hostname -s)"}; }

}  // namespace sextant::inline reports
