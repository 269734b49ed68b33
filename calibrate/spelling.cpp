#include "calibrate/spelling.h"

#include <algorithm>
#include <map>

namespace sextant::inline calibrate {
namespace {

std::set<std::string> device_types_of(const Coefficients& coefficients) {
  std::set<std::string> types;
  for (const Coefficient& entry : coefficients.values) {
    if (entry.device_type != kAny) types.insert(entry.device_type);
  }
  if (coefficients.fit) {
    for (const TaskExperience& task : coefficients.fit->experience) {
      types.insert(task.device_types.begin(), task.device_types.end());
    }
  }
  return types;
}

void rename(Coefficients& coefficients, const std::map<std::string, std::string>& names) {
  const auto apply = [&](std::string& type) {
    const auto found = names.find(type);
    if (found != names.end()) type = found->second;
  };
  for (Coefficient& entry : coefficients.values) apply(entry.device_type);
  if (!coefficients.fit) return;
  for (TaskExperience& task : coefficients.fit->experience) {
    std::for_each(task.device_types.begin(), task.device_types.end(), apply);
    std::sort(task.device_types.begin(), task.device_types.end());
  }
}

}  // namespace

std::string lower_case(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return out;
}

std::vector<std::string> frameworks_of(const Coefficients& coefficients) {
  std::set<std::string> names;
  for (const Coefficient& entry : coefficients.values) names.insert(entry.framework);
  if (coefficients.fit) {
    for (const TaskExperience& task : coefficients.fit->experience) names.insert(task.framework);
  }
  names.erase(std::string(kAny));
  return {names.begin(), names.end()};
}

std::string framework_as_in(const Coefficients& coefficients, const std::string& framework) {
  const std::vector<std::string> known = frameworks_of(coefficients);
  if (std::find(known.begin(), known.end(), framework) != known.end()) return framework;
  const auto found = std::find_if(known.begin(), known.end(), [&](const std::string& name) {
    return lower_case(name) == lower_case(framework);
  });
  return found == known.end() ? framework : *found;
}

bool has_values_of(const Coefficients& coefficients, std::string_view framework) {
  return std::any_of(coefficients.values.begin(), coefficients.values.end(),
                     [&](const Coefficient& entry) { return entry.framework == framework; });
}

std::set<std::string> device_types_of(const Cluster& cluster) {
  std::set<std::string> types;
  for (const Node& node : cluster.nodes()) types.insert(node.device_type);
  return types;
}

std::vector<RenamedType> rename_device_types(Coefficients& coefficients, const std::set<std::string>& types,
                                             const std::function<std::string(const std::string&)>& full_name) {
  const std::set<std::string> known = device_types_of(coefficients);
  std::map<std::string, std::string> names;
  std::vector<RenamedType> renamed;
  for (const std::string& type : types) {
    if (known.contains(type)) continue;
    const std::string wanted = full_name(type);
    const auto same = std::find_if(known.begin(), known.end(), [&](const std::string& name) {
      return full_name(name) == wanted && !types.contains(name) && !names.contains(name);
    });
    if (same == known.end()) continue;
    names.emplace(*same, type);
    renamed.push_back({*same, type});
  }
  rename(coefficients, names);
  return renamed;
}

}  // namespace sextant::inline calibrate
