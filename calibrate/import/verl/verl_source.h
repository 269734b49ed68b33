// One file of verl's numbers with all facts about their origin: verl.h lists the files and side
// files.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/import/records/imported.h"
#include "calibrate/import/verl/driver_dialect.h"
#include "calibrate/import/verl/verl_log.h"
#include "core/json_value.h"

namespace sextant {

struct VerlSource {
  std::string name;  // name of its runs
  VerlLog log;       // its configuration is in `config`
  std::vector<LeftOut> odd_steps;
  std::map<std::string, Json> config;
  std::string gpu;  // the GPU as the file words it, which Facts::gpu_in reads; empty: not stated
  std::optional<int> gpus;
  int gpus_per_node = 0;  // 0: not stated
  bool has_first_engine = false;
  std::map<std::string, std::string> notes;
};

// Throws Error(bad_input) with the file's name; steps in another format are left out with their reasons. GPU
// facts that neither the file nor its side file states come from the configuration.
// `dialect`: null for verl's own logs.
[[nodiscard]] VerlSource read_verl_source(const std::filesystem::path& file,
                                          const DriverDialect* dialect = nullptr);

}  // namespace sextant
