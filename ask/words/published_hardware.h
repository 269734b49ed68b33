// Cloud instances (data/instances.json) and networks (data/link_presets.json) by name.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sextant/quantity.h"

namespace sextant::inline ask {

struct Instance {
  std::string name;
  std::vector<std::string> aliases;
  std::string gpu;  // a name of data/gpus.json
  int gpus = 1;
  Quantity network_bytes_per_s;  // all adapters, one direction
  std::optional<Quantity> host_memory_bytes;
  std::optional<Quantity> price_usd_per_hour;  // the whole instance, on demand
};

struct LinkPreset {
  std::string name;
  std::vector<std::string> aliases;
  bool is_of_node = false;  // all GPUs of a node share it; otherwise each has its own
  Quantity bytes_per_s;     // one direction
  std::optional<Quantity> latency_s;
};

struct PublishedHardware {
  std::vector<Instance> instances;
  std::vector<LinkPreset> presets;

  // Throws Error(bad_input) with the JSON path of what is wrong.
  static PublishedHardware load(const std::filesystem::path& data);
  // Finds by name or alias, ignoring case; null if there is none.
  [[nodiscard]] const Instance* find_instance(const std::string& name) const;
  // Finds by name or alias, ignoring case, or reads a number of Gbit/s. Throws Error(bad_input) with the known
  // names.
  [[nodiscard]] LinkPreset preset(const std::string& option, const std::string& name) const;
};

}  // namespace sextant::inline ask
