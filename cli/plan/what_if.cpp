#include "cli/plan/what_if.h"

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "ask/words/nearest_name.h"
#include "core/text.h"
#include "documents/values/gpu_names.h"
#include "planner/explain/change.h"
#include "sextant/error.h"

namespace sextant::cli {

const char* const kWhatIfHelp =
    "Plan again on a changed cluster (add:TYPE=N, remove:NODE, ..., see below) and show what differs; "
    "repeatable";

const char* const kWhatIfGrammar =
    "Changes of --what-if; changes separated by commas are applied together, each --what-if is planned "
    "separately:\n"
    "  add:TYPE=N[@ZONE]      add N nodes (not devices): copies of the first node with device type TYPE, in "
    "its zone or "
    "ZONE;\n"
    "                         TYPE is a type of the cluster, by its name, another spelling or its beginning: "
    "h100\n"
    "  remove:NODE            remove a node\n"
    "  remove:TYPE=N          remove the last N nodes with device type TYPE\n"
    "  link:LEVEL*FACTOR      scale the bandwidth of all links at a level: within_node, within_zone, "
    "within_region or\n"
    "                         between_regions; link:LEVEL.latency*FACTOR for their latency\n"
    "  link:LEVEL=VALUE       set it, in bytes/s (for .latency: in seconds)\n"
    "  link:A..B*FACTOR       scale the link between two machines, zones or regions in both directions; =VALUE "
    "and .latency work too\n"
    "  device:TYPE.WHAT*FACTOR  WHAT is flops, bandwidth (of memory), memory (size) or host (link to the host)";

namespace {

using Names = std::vector<std::string_view>;

constexpr std::array<std::string_view, kLinkLevelCount> kLevels{"within_node", "within_zone", "within_region",
                                                                "between_regions"};
// The words after the device type, and the names of the numbers (costmodel/hardware_numbers.h).
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kDeviceNumbers{
    {{"flops", "flop_per_s"},
     {"bandwidth", "memory_bytes_per_s"},
     {"memory", "memory_bytes"},
     {"host", "host_bytes_per_s"}}};

// "; did you mean h100? (there are a100, h100)"
std::string meant(std::string_view written, const Names& names) {
  constexpr std::size_t kMaxShown = 12;
  std::string all;
  for (std::size_t i = 0; i < std::min(names.size(), kMaxShown); ++i)
    all += (i == 0 ? "" : ", ") + std::string(names[i]);
  if (names.size() > kMaxShown) all += ", ...";
  return did_you_mean(written, names) + " (known: " + all + ")";
}

void require_known(std::string_view what, std::string_view written, const Names& names) {
  if (std::find(names.begin(), names.end(), written) != names.end()) return;
  throw_bad_input("unknown " + std::string(what) + " " + in_quotes(std::string(written)) +
                  meant(written, names));
}

Names types_of(const Cluster& cluster) {
  std::set<std::string_view> used;
  for (const Node& node : cluster.nodes()) used.insert(node.device_type);
  return {used.begin(), used.end()};
}

// The cluster's device type of this name, of another spelling or alias of it (documents/values/gpu_names.h), or the
// only one that begins with it. Throws Error(bad_input) that lists the types.
std::string type_named(std::string_view written, const Cluster& cluster) {
  const Names types = types_of(cluster);
  if (std::find(types.begin(), types.end(), written) != types.end()) return std::string(written);
  Names same, longer;
  for (const std::string_view type : types) {
    if (is_same_gpu(type, written)) same.push_back(type);
    const bool ends_a_word =
        written.size() < type.size() && (type[written.size()] == '-' || type[written.size()] == '_');
    if (ends_a_word && is_same_gpu(type.substr(0, written.size()), written)) longer.push_back(type);
  }
  if (same.size() == 1) return std::string(same.front());
  if (same.empty() && longer.size() == 1) return std::string(longer.front());
  require_known("device type", written, types);
  return "";
}

Names zones_of(const Cluster& cluster) {
  std::set<std::string_view> zones;
  for (const Node& node : cluster.nodes()) zones.insert(node.zone);
  return {zones.begin(), zones.end()};
}

Names nodes_of(const Cluster& cluster) {
  Names names;
  for (const Node& node : cluster.nodes()) names.push_back(node.name);
  return names;
}

template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = fault == std::errc{} && end == text.data() + text.size();
  return is_whole ? std::optional<Number>(number) : std::nullopt;
}

double parse_positive(std::string_view text, const std::string& what) {
  const auto number = parse_number<double>(text);
  if (!number || !std::isfinite(*number) || *number <= 0)
    throw_bad_input("expected " + what + " > 0, got " + in_quotes(std::string(text)));
  return *number;
}

int parse_count(std::string_view text) {
  const auto number = parse_number<int>(text);
  if (!number || *number < 1)
    throw_bad_input("expected a number of machines >= 1, got " + in_quotes(std::string(text)));
  return *number;
}

// Before and after the last of a character; nothing where there is none.
std::optional<std::pair<std::string_view, std::string_view>> parted(std::string_view text, char at) {
  const std::size_t place = text.rfind(at);
  if (place == std::string_view::npos) return std::nullopt;
  return std::pair{text.substr(0, place), text.substr(place + 1)};
}

ClusterChange parse_add(std::string_view text, const Cluster& cluster) {
  AddMachines change;
  auto number = parted(text, '=');
  if (!number) throw_bad_input("expected add:TYPE=N or add:TYPE=N@ZONE");
  change.device_type = type_named(number->first, cluster);
  const std::size_t at = number->second.find('@');
  change.count = parse_count(number->second.substr(0, at));
  if (at == std::string_view::npos) return change;
  change.zone = number->second.substr(at + 1);
  require_known("zone", change.zone, zones_of(cluster));
  return change;
}

ClusterChange parse_remove(std::string_view text, const Cluster& cluster) {
  const Names nodes = nodes_of(cluster);
  const auto number = parted(text, '=');
  if (!number || std::find(nodes.begin(), nodes.end(), text) != nodes.end()) {
    require_known("machine", text, nodes);
    return RemoveMachine{std::string(text)};
  }
  std::string type = type_named(number->first, cluster);
  return RemoveMachines{std::move(type), parse_count(number->second)};
}

ClusterChange parse_link(std::string_view text, const Cluster& /*cluster*/) {
  ChangeLinks change;
  auto sides = parted(text, '*');
  change.is_factor = sides.has_value();
  if (!sides) sides = parted(text, '=');
  if (!sides) throw_bad_input("expected link:LEVEL*FACTOR or link:LEVEL=BYTES_PER_S");
  std::string_view level = sides->first;
  if (level.ends_with(".latency")) {
    level.remove_suffix(std::string_view(".latency").size());
    change.what = ChangeLinks::What::latency_s;
  }
  change.value = parse_positive(sides->second, change.is_factor ? "a factor" : "a value");
  constexpr std::string_view kBetween = "..";
  if (const std::size_t at = level.find(kBetween); at != std::string_view::npos) {
    return ChangeLinkBetween{std::string(level.substr(0, at)), std::string(level.substr(at + kBetween.size())),
                             change.what, change.is_factor, change.value};
  }
  require_known("level", level, {kLevels.begin(), kLevels.end()});
  change.level = static_cast<LinkLevel>(std::find(kLevels.begin(), kLevels.end(), level) - kLevels.begin());
  return change;
}

ClusterChange parse_device(std::string_view text, const Cluster& cluster) {
  const auto sides = parted(text, '*');
  const auto number = sides ? parted(sides->first, '.') : std::nullopt;
  if (!number) throw_bad_input("expected device:TYPE.flops*FACTOR, or .bandwidth, .memory or .host");
  std::string type = type_named(number->first, cluster);
  Names names;
  for (const auto& [name, of_model] : kDeviceNumbers) names.push_back(name);
  require_known("number of a device", number->second, names);
  ScaleDevices change;
  change.device_type = std::move(type);
  for (const auto& [name, of_model] : kDeviceNumbers) {
    if (name == number->second) change.name = of_model;
  }
  if (change.name == "host_bytes_per_s" && !cluster.device_types().at(change.device_type).host_bytes_per_s) {
    throw_bad_input("the cluster has no rate for the link between " + change.device_type + " and the host");
  }
  change.factor = parse_positive(sides->second, "a factor");
  return change;
}

ClusterChange parse_change(std::string_view text, const Cluster& cluster) {
  using Parse = ClusterChange (*)(std::string_view, const Cluster&);
  constexpr std::array<std::pair<std::string_view, Parse>, 4> kVerbs{
      {{"add", parse_add}, {"remove", parse_remove}, {"link", parse_link}, {"device", parse_device}}};
  const std::size_t colon = text.find(':');
  const std::string_view verb = text.substr(0, colon);
  Names verbs;
  for (const auto& [name, parse] : kVerbs) {
    if (name == verb && colon != std::string_view::npos) return parse(text.substr(colon + 1), cluster);
    verbs.push_back(name);
  }
  require_known("change", verb, verbs);
  throw_bad_input("expected " + std::string(verb) + ":..., see sextant plan --help");
}

}  // namespace

Scenario parse_what_if(const std::string& written, const Cluster& cluster) {
  Scenario scenario{{}, cluster};
  try {
    for (std::size_t begin = 0; begin <= written.size();) {
      const std::size_t end = std::min(written.find(',', begin), written.size());
      const std::string change = written.substr(begin, end - begin);
      scenario.cluster = changed(scenario.cluster, parse_change(change, scenario.cluster));
      scenario.changes.push_back(change);
      begin = end + 1;
    }
  } catch (const Error& error) {
    throw Error(error.kind(), "--what-if " + written + ": " + error.what());
  }
  return scenario;
}

}  // namespace sextant::cli
