#include "ask/words/cluster_text.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <regex>
#include <utility>

#include "ask/words/nearest_name.h"
#include "ask/words/published_hardware.h"
#include "calibrate/import/records/run_parts.h"
#include "core/text.h"
#include "core/units.h"
#include "sextant/error.h"

namespace sextant::inline ask {
namespace {

constexpr int kMaxNumber = 100'000;
constexpr const char* kHere = "here";  // region of groups that name none

// One group of nodes, as written.
struct Group {
  std::string words;
  Gpu gpu;
  int nodes = 1, per_node = 1;
  std::optional<Instance> instance;
  std::string region = kHere;
};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts{""};
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

bool is_number(const std::string& text) {
  return !text.empty() && text.size() <= 9 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

// True for "25" and "12.5", not for the name of a preset.
bool is_a_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789.") == std::string::npos;
}

constexpr const char* kExamples = "expected for example 4x8xH100 (nodes x GPUs), 32xH100, or 16xp5.48xlarge";

// "-8", "0.5" and "1e6" are meant as numbers; no name begins like that.
bool is_meant_as_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789.+-eE") == std::string::npos &&
         text.find_first_of("0123456789") != std::string::npos;
}

int count_from(const std::string& number, const std::string& group) {
  const int count = is_number(number) ? std::stoi(number) : 0;
  if (count < 1 || count > kMaxNumber)
    throw_bad_input("--gpus: " + in_quotes(number) + " in " + in_quotes(group) +
                    " is no number of nodes or GPUs: expected whole numbers from 1 to " +
                    std::to_string(kMaxNumber) + ", for example 4x8xH100");
  return count;
}

// Takes the numbers before the first name: "4x8xH100" leaves "H100" and {4, 8}.
std::vector<int> take_counts(std::string& words) {
  const std::string group = words;
  std::vector<int> counts;
  for (std::size_t x = words.find_first_of("xX");
       x != std::string::npos && is_meant_as_number(words.substr(0, x)); x = words.find_first_of("xX")) {
    counts.push_back(count_from(words.substr(0, x), group));
    words = words.substr(x + 1);
  }
  return counts;
}

std::string suggestion(const std::string& name, const Facts& facts, const PublishedHardware& hardware) {
  std::vector<std::string> names = facts.gpu_names();
  for (const Instance& instance : hardware.instances) names.push_back(instance.name);
  const std::vector<std::string_view> views(names.begin(), names.end());
  std::string near = nearest_name(name, views);
  if (facts.has_gpu(near)) {  // names of GPUs are in lower case
    const std::string& spelled = facts.gpu(near).name;
    const auto is_same = [](char small, unsigned char c) { return small == std::tolower(c); };
    const bool is_begin =
        near.size() <= spelled.size() && std::equal(near.begin(), near.end(), spelled.begin(), is_same);
    near = is_begin ? spelled.substr(0, near.size()) : spelled;
  }
  return near.empty() ? "" : "; did you mean " + near + "?";
}

// Writes "+" in place of what else stands between two groups: "8x4xH100, 2x8xA100".
std::string joined_with_plus(const std::string& text) {
  static const std::regex between(R"(([^\s,;&+])[\s,;&+]*[\s,;&][\s,;&+]*(?=[0-9]+[xX]))");
  return std::regex_replace(text, between, "$1+");
}

// The same cluster in the order that is read: "H100x8", "H100:8" and "8*H100" are 8xH100. Empty: it is no such order.
std::string reordered(const std::string& text, const Facts& facts) {
  static const std::regex name_first(R"(\s*([A-Za-z][^:*]*?)\s*[xX:*]\s*([0-9]+)\s*)");
  static const std::regex with_star(R"(\s*([0-9]+)\s*[xX:*]\s*([A-Za-z].*?)\s*)");
  std::smatch found;
  const bool is_first = std::regex_match(text, found, name_first);
  if (!is_first && !std::regex_match(text, found, with_star)) return "";
  const std::string name = found[is_first ? 1 : 2].str(), count = found[is_first ? 2 : 1].str();
  return facts.has_gpu(name) ? count + "x" + name : "";
}

Group parse_group(const std::string& text, const Facts& facts, const PublishedHardware& hardware) {
  Group group;
  group.words = text;
  const std::size_t at = text.find('@');
  std::string name = text.substr(0, at);
  if (at != std::string::npos) group.region = text.substr(at + 1);
  if (group.region.find('@') != std::string::npos)
    throw_bad_input("--gpus: one \"@REGION\" for a group, got " + in_quotes(text));
  if (group.region.empty()) throw_bad_input("--gpus: no region follows the \"@\" of " + in_quotes(text));
  const std::vector<int> counts = take_counts(name);
  if (name.empty())
    throw_bad_input("--gpus: no type of GPU or instance follows the numbers of " + in_quotes(text) + "; " +
                    kExamples);
  std::string spelled = name;  // ND_H200_v5 is ND-H200-v5
  std::replace(spelled.begin(), spelled.end(), '_', '-');
  const Instance* instance = hardware.find_instance(name);
  if (instance == nullptr) instance = hardware.find_instance(spelled);
  if (instance != nullptr) {
    if (counts.size() > 1)
      throw_bad_input("--gpus: expected COUNTx" + instance->name + ", got " + in_quotes(text));
    group.instance = *instance;
    group.gpu = facts.gpu(instance->gpu);
    group.nodes = counts.empty() ? 1 : counts.front();
    group.per_node = instance->gpus;
    return group;
  }
  if (is_number(name) && !facts.has_gpu(name))
    throw_bad_input("--gpus: " + name + " GPUs of what type? For example " + name + "xH100; " + kExamples);
  if (const std::string other = reordered(text, facts); !facts.has_gpu(name) && !other.empty())
    throw_bad_input("--gpus: " + in_quotes(text) + " is not in the order that is read; did you mean " + other +
                    "?");
  // The name of a rack and of its GPUs.
  static const std::regex rack(".*NVL72", std::regex::icase);
  if (facts.has_gpu(name) && counts.size() == 1 && std::regex_match(name, rack)) {
    const std::string gpu = facts.gpu(name).name;
    throw_bad_input("--gpus: " + in_quotes(text) + " may be GPUs or racks: " + std::to_string(counts[0]) +
                    " GPUs are " + std::to_string(counts[0]) + "x" + gpu + ", " + std::to_string(counts[0]) +
                    " racks of 72 are " + std::to_string(72 * counts[0]) + "x" + gpu);
  }
  if (!facts.has_gpu(name))
    throw_bad_input("--gpus: " + facts.why_no_gpu(name) + suggestion(name, facts, hardware) + "; " + kExamples);
  group.gpu = facts.gpu(name);
  if (counts.size() > 2) throw_bad_input("--gpus: expected NODESxGPUSxNAME, got " + in_quotes(text));
  if (counts.size() == 2) {
    group.nodes = counts[0];
    group.per_node = counts[1];
  } else if (counts.size() == 1) {
    group.per_node = std::min(counts[0], group.gpu.per_node);
    group.nodes = counts[0] / group.per_node;
    if (counts[0] % group.per_node != 0)
      throw_bad_input("--gpus: " + std::to_string(counts[0]) + " " + group.gpu.name + " do not fill nodes of " +
                      std::to_string(group.per_node) + "; write NODESxGPUSx" + group.gpu.name);
  }
  if (static_cast<double>(group.nodes) * group.per_node > Cluster::kMaxDevices)
    throw_bad_input("--gpus: more than " + std::to_string(Cluster::kMaxDevices) + " GPUs: " + in_quotes(text));
  return group;
}

// Replaces the network of a GPU's usual node by what the instance or the user says.
void set_network(Group& group, const NetworkChoice& network, const PublishedHardware& hardware) {
  Gpu& gpu = group.gpu;
  Quantity rate = gpu.between_nodes.bytes_per_s, latency = gpu.between_nodes.latency_s;
  double node_bytes_per_s = 0;
  if (!network.inside.empty()) {
    const LinkPreset preset = hardware.preset("--network", network.inside);
    rate = preset.bytes_per_s;
    if (preset.latency_s) latency = *preset.latency_s;
    node_bytes_per_s = rate.value * (preset.is_of_node ? 1 : group.per_node);
  } else if (group.instance) {
    rate = group.instance->network_bytes_per_s;
    node_bytes_per_s = rate.value;
    rate.value /= group.instance->gpus;
  } else {
    // The facts have the NVLink of a rack's node in the place of its adapters, as the runs of the fit do.
    if (gpu.between_racks) gpu.network_bytes_per_s = gpu.between_racks->bytes_per_s.value * gpu.per_node;
    return;
  }
  // The other nodes of a rack are reached by its NVLink, and other racks by the adapters.
  (gpu.between_racks ? *gpu.between_racks : gpu.between_nodes) = {latency, rate, {}};
  gpu.network_bytes_per_s = node_bytes_per_s / group.per_node * gpu.per_node;
}

const LinkRate& outer_rate(const Gpu& gpu) {
  return gpu.between_racks ? *gpu.between_racks : gpu.between_nodes;
}

LinkRate slower(const LinkRate& a, const LinkRate& b) {
  LinkRate out = a.bytes_per_s.value <= b.bytes_per_s.value ? a : b;
  if (b.latency_s.value > out.latency_s.value) out.latency_s = b.latency_s;
  if (a.latency_s.value > out.latency_s.value) out.latency_s = a.latency_s;
  return out;
}

// The connection of two regions, which all their GPUs share.
LinkRate between_regions(const NetworkChoice& network, const PublishedHardware& hardware,
                         std::vector<std::string>& notes) {
  LinkRate rate;
  if (network.outside.empty()) {
    constexpr double kBytes_per_s = 10e9 / kBitsPerByte, kLatency_s = 15e-3;
    rate.bytes_per_s = assumed(kBytes_per_s, "no connection between regions was stated");
    rate.latency_s = assumed(kLatency_s, "no connection between regions was stated");
    notes.emplace_back(
        "Assumed: regions share a connection of 10 Gbit/s with 15 ms; --network-between states another.");
  } else {
    const LinkPreset preset = hardware.preset("--network-between", network.outside);
    rate.bytes_per_s = preset.bytes_per_s;
    constexpr double kLatency_s = 15e-3;
    rate.latency_s = preset.latency_s.value_or(assumed(kLatency_s, "usual between regions of a continent"));
  }
  rate.capacity_bytes_per_s = rate.bytes_per_s;
  return rate;
}

void set_price(DeviceType& type, const Group& group) {
  if (!group.instance || !group.instance->price_usd_per_hour) return;
  Quantity price = *group.instance->price_usd_per_hour;
  price.value /= group.instance->gpus;
  type.price_usd_per_hour = price;
}

struct Assembly {
  std::map<std::string, DeviceType> types;
  std::vector<Node> nodes;
  std::map<LinkLevel, LinkRate> levels;
  std::vector<LinkException> exceptions;
};

// Adds the group's nodes with the names of its type, zones of its own, and its links where they are not the
// level's.
void add(const Group& group, std::size_t number, bool is_alone, Assembly& all) {
  const Cluster one = uniform_cluster(group.gpu, group.nodes * group.per_node, group.per_node);
  const std::string prefix = is_alone ? "" : "group" + std::to_string(number + 1) + "-";
  DeviceType& type = all.types.emplace(group.gpu.name, group.gpu.type).first->second;
  set_price(type, group);
  std::map<std::string, bool> zones;
  for (Node node : one.nodes()) {
    node.name = prefix + node.name;
    node.zone = prefix + (group.region == kHere ? "" : group.region + "-") + node.zone;
    node.region = group.region;
    if (!is_alone) node.link = group.gpu.within_node;
    if (group.instance && group.instance->host_memory_bytes)
      node.host_memory_bytes = group.instance->host_memory_bytes->value;
    node.rented_whole = group.instance && group.instance->price_usd_per_hour;
    zones[node.zone] = true;
    all.nodes.push_back(std::move(node));
  }
  const auto level = all.levels.find(LinkLevel::within_zone);
  if (is_alone) {
    all.levels = one.levels();
    // A single node has no other to reach, but what-if questions and advice add some.
    if (group.gpu.between_nodes.bytes_per_s.value > 0)
      all.levels.try_emplace(LinkLevel::within_zone, group.gpu.between_nodes);
  } else if (level == all.levels.end()) {
    all.levels = {{LinkLevel::within_node, group.gpu.within_node},
                  {LinkLevel::within_zone, group.gpu.between_nodes}};
  } else if (level->second != group.gpu.between_nodes) {
    for (const auto& [zone, is_there] : zones)
      all.exceptions.push_back({LinkScope::zone, zone, zone, group.gpu.between_nodes, true});
  }
}

constexpr std::string_view kNetworkWords = ", network ", kOutsideWords = ", between regions ";

// "4 x 8 H100-SXM-80GB + 2 x g6e.48xlarge in us-east-2, network ib-ndr": everything that was asked for, so that
// words_of_title returns it.
std::string title_of(const std::vector<Group>& groups, const NetworkChoice& network) {
  std::string title;
  for (const Group& group : groups) {
    title += (title.empty() ? "" : " + ") + std::to_string(group.nodes) + " x " +
             (group.instance ? group.instance->name : std::to_string(group.per_node) + " " + group.gpu.name) +
             (group.region == kHere ? "" : " in " + group.region);
  }
  if (!network.inside.empty()) title += std::string(kNetworkWords) + network.inside;
  if (!network.outside.empty()) title += std::string(kOutsideWords) + network.outside;
  return title;
}

// Takes what follows `words` away from the end of `text`.
std::string take_end(std::string& text, std::string_view words) {
  const std::size_t at = text.find(words);
  if (at == std::string::npos) return "";
  std::string end = text.substr(at + words.size());
  text.resize(at);
  return end;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

}  // namespace

ClusterFromText cluster_from_text(const std::string& text, const NetworkChoice& network, const Facts& facts,
                                  const std::filesystem::path& data) {
  const PublishedHardware hardware = PublishedHardware::load(data);
  if (const std::string joined = joined_with_plus(text); joined != text)
    throw_bad_input("--gpus: groups of nodes are joined with \"+\" and without spaces: " + in_quotes(joined) +
                    ", got " + in_quotes(text));
  std::vector<Group> groups;
  for (const std::string& words : split(text, '+')) {
    if (words.empty() && !text.empty())
      throw_bad_input("--gpus: a part of " + in_quotes(text) +
                      " is empty: \"+\" stands between two groups, for example 4x8xH100+4x8xL40S");
    groups.push_back(parse_group(words, facts, hardware));
    set_network(groups.back(), network, hardware);
  }
  std::vector<std::string> notes;
  Assembly all;
  std::optional<LinkRate> inside_region;
  bool has_regions = false;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    add(groups[g], g, groups.size() == 1, all);
    const LinkRate& rate = outer_rate(groups[g].gpu);
    inside_region = inside_region ? slower(*inside_region, rate) : rate;
    has_regions = has_regions || groups[g].region != groups.front().region;
  }
  if (groups.size() > 1) all.levels[LinkLevel::within_region] = *inside_region;
  if (has_regions) all.levels[LinkLevel::between_regions] = between_regions(network, hardware, notes);
  if (!has_regions && !network.outside.empty())
    throw_bad_input("--network-between: all GPUs are in one region; \"@REGION\" after a group says otherwise");
  for (const Group& group : groups) {
    const Quantity& rate = outer_rate(group.gpu).bytes_per_s;
    const bool is_one_rack = group.gpu.per_rack >= group.nodes * group.per_node;
    if (is_a_number(network.inside))
      notes.push_back("--network " + network.inside + ": " + network.inside + " Gbit/s for each GPU, " +
                      format_number(rate.value * kBitsPerByte / 1e9 * group.per_node) +
                      " for a node; presets such as tcp-25 are of a whole node.");
    if (group.nodes > 1 && !is_one_rack && network.inside.empty() && !group.instance)
      notes.push_back("Assumed for nodes of " + group.gpu.name + ": a network of " +
                      format_number(rate.value * kBitsPerByte / 1e9) +
                      " Gbit/s for each GPU; --network states another.");
  }
  return {Cluster(title_of(groups, network), std::move(all.types), std::move(all.nodes), std::move(all.levels),
                  std::move(all.exceptions)),
          std::move(notes)};
}

std::optional<ClusterWords> words_of_title(const std::string& title, const Facts& facts,
                                           const std::filesystem::path& data) {
  ClusterWords words{title, {}};
  words.network.outside = take_end(words.gpus, kOutsideWords);
  words.network.inside = take_end(words.gpus, kNetworkWords);
  replace_all(words.gpus, " + ", "+");
  replace_all(words.gpus, " x ", "x");
  replace_all(words.gpus, " in ", "@");
  std::replace(words.gpus.begin(), words.gpus.end(), ' ', 'x');
  try {
    const ClusterFromText made = cluster_from_text(words.gpus, words.network, facts, data);
    if (made.cluster.name() == title) return words;
  } catch (const Error&) {  // another name
  }
  return std::nullopt;
}

}  // namespace sextant::inline ask
