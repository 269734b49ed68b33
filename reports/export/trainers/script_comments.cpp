#include "reports/export/trainers/script_comments.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <set>

#include "core/text.h"
#include "reports/export/trainers/trainer_settings.h"
#include "sextant/error.h"

namespace sextant::inline reports {
namespace {

constexpr std::string_view kPlanComment = "# Plan: ", kClusterComment = "# Cluster: ",
                           kPoolComment = "#   pool ";
constexpr std::string_view kModelEnd = ": a folder, or its name on Hugging Face";

// "node-0[0-7] node-1[0-7]": the GPUs of a pool, by node.
std::string gpus_by_node(const GpuPool& pool, const Cluster& cluster) {
  std::string out;
  for (std::size_t first = 0; first < pool.devices.size();) {
    std::size_t end = first + 1;
    const auto is_next = [&] {
      return end < pool.devices.size() && pool.devices[end].value == pool.devices[end - 1].value + 1 &&
             cluster.node_of(pool.devices[end]) == cluster.node_of(pool.devices[first]);
    };
    while (is_next()) ++end;
    const std::string name = cluster.device_name(pool.devices[first]);
    const std::size_t slash = name.rfind('/');
    const std::string number = name.substr(slash + 1);
    const std::string last = cluster.device_name(pool.devices[end - 1]).substr(slash + 1);
    out += " " + as_comment(name.substr(0, slash)) + "[" + number + (last == number ? "" : "-" + last) + "]";
    first = end;
  }
  return out;
}

int number_in(std::string_view text) {
  int out = -1;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

// "node1[0-7]": numbers of GPUs inside a node.
struct NodePart {
  std::string node;
  int first = 0, last = 0;
};

// A pool as its comment has it.
struct CommentedPool {
  std::string name;
  int nodes = 1, gpus_per_node = 1;
  std::vector<NodePart> parts;
};

CommentedPool parse_pool(std::string_view text) {
  const std::size_t comma = text.find(", "), colon = text.find(" GPUs:");
  if (comma == std::string_view::npos || colon == std::string_view::npos || colon < comma)
    throw_bad_input("a pool without GPUs: " + in_quotes(text));
  CommentedPool pool;
  pool.name = text.substr(0, comma);
  const std::string_view size = text.substr(comma + 2, colon - comma - 2);
  pool.nodes = number_in(size);
  pool.gpus_per_node = number_in(size.substr(std::min(size.find("x ") + 2, size.size())));
  for (std::string_view rest = text.substr(colon + 6); !rest.empty();) {
    const std::size_t open = rest.find('['), close = rest.find(']');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open || open < 2) break;
    const std::string_view range = rest.substr(open + 1, close - open - 1);
    const std::size_t dash = range.find('-');
    const int first = number_in(range);
    const int last = dash == std::string_view::npos ? first : number_in(range.substr(dash + 1));
    pool.parts.push_back({std::string(rest.substr(1, open - 1)), first, last});
    rest.remove_prefix(close + 1);
  }
  return pool;
}

// "node2" before "node10".
bool is_before(const std::string& a, const std::string& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

// The nodes of a cluster by the names that the comments have for them.
std::map<std::string, NodeId> nodes_by_name(const std::vector<CommentedPool>& pools, const Cluster& cluster) {
  std::map<std::string, NodeId> nodes;
  for (std::size_t i = 0; i < cluster.nodes().size(); ++i)
    nodes[as_comment(cluster.nodes()[i].name)] = NodeId{static_cast<int>(i)};
  std::set<std::string> names;
  for (const CommentedPool& pool : pools) {
    for (const NodePart& part : pool.parts) names.insert(part.node);
  }
  const auto is_known = [&](const std::string& name) { return nodes.contains(name); };
  if (std::any_of(names.begin(), names.end(), is_known)) return nodes;
  std::vector<std::string> ordered(names.begin(), names.end());
  std::sort(ordered.begin(), ordered.end(), is_before);
  ordered.resize(std::min(ordered.size(), cluster.nodes().size()));
  for (std::size_t i = 0; i < ordered.size(); ++i) nodes[ordered[i]] = NodeId{static_cast<int>(i)};
  return nodes;
}

GpuPool pool_on(const CommentedPool& commented, const std::map<std::string, NodeId>& nodes,
                const Cluster& cluster) {
  std::vector<int> first_device{0};
  for (const Node& node : cluster.nodes()) first_device.push_back(first_device.back() + node.devices);
  GpuPool pool{commented.name, commented.nodes, commented.gpus_per_node, {}};
  for (const NodePart& part : commented.parts) {
    const auto node = nodes.find(part.node);
    if (node == nodes.end()) throw_bad_input("the cluster has no node " + in_quotes(part.node));
    const std::size_t number = node->second.index();
    if (part.first < 0 || part.last < part.first || part.last >= cluster.nodes()[number].devices)
      throw_bad_input("node " + in_quotes(part.node) + " has no GPU " + std::to_string(part.last));
    for (int i = part.first; i <= part.last; ++i) pool.devices.push_back(DeviceId{first_device[number] + i});
  }
  std::sort(pool.devices.begin(), pool.devices.end());
  const bool has_twice = std::adjacent_find(pool.devices.begin(), pool.devices.end()) != pool.devices.end();
  if (has_twice || std::ssize(pool.devices) != static_cast<std::ptrdiff_t>(pool.nodes) * pool.gpus_per_node)
    throw_bad_input("pool " + pool.name + ": wrong number of GPUs");
  return pool;
}

// "# MODEL_PATH: the model, Qwen3-14B: a folder, or its name on Hugging Face"
void read_model(std::string_view line, ScriptComments& comments) {
  if (!line.starts_with("# ") || !line.ends_with(kModelEnd)) return;
  line.remove_prefix(2);
  line.remove_suffix(kModelEnd.size());
  const std::size_t colon = line.find(": "), comma = line.find(", ");
  if (colon == std::string_view::npos || comma == std::string_view::npos || comma < colon) return;
  comments.models.emplace(line.substr(0, colon), line.substr(comma + 2));
}

}  // namespace

std::string pools_comments(const TrainerConfig& config, const Cluster& cluster) {
  std::string out = std::string(kPlanComment) + as_comment(config.plan) + "\n" + std::string(kClusterComment) +
                    as_comment(cluster.name()) + "\n#\n# GPUs that the plan was made for:\n";
  for (const GpuPool& pool : config.pools) {
    out += std::string(kPoolComment) + pool.name + ", " + std::to_string(pool.nodes) + " x " +
           std::to_string(pool.gpus_per_node) + " GPUs:" + gpus_by_node(pool, cluster) + "\n";
  }
  return out;
}

std::string model_meaning(const std::string& role, const std::string& name) {
  return role + ", " + as_comment(name) + std::string(kModelEnd);
}

ScriptComments read_comments(std::string_view script) {
  ScriptComments comments;
  while (!script.empty()) {
    const std::size_t end = std::min(script.find('\n'), script.size());
    const std::string_view line = script.substr(0, end);
    script.remove_prefix(std::min(end + 1, script.size()));
    if (line.starts_with(kPlanComment)) comments.plan = line.substr(kPlanComment.size());
    if (line.starts_with(kClusterComment)) comments.cluster = line.substr(kClusterComment.size());
    if (line.starts_with(kPoolComment)) comments.pools.emplace_back(line.substr(kPoolComment.size()));
    read_model(line, comments);
  }
  return comments;
}

std::vector<GpuPool> pools_of(const ScriptComments& comments, const Cluster& cluster) {
  std::vector<CommentedPool> commented;
  for (const std::string& text : comments.pools) commented.push_back(parse_pool(text));
  const std::map<std::string, NodeId> nodes = nodes_by_name(commented, cluster);
  std::vector<GpuPool> pools;
  for (const CommentedPool& pool : commented) pools.push_back(pool_on(pool, nodes, cluster));
  return pools;
}

}  // namespace sextant::inline reports
