// One file of verl's numbers with all facts about their origin: verl.h lists the files and side
// files.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/import/records/imported.h"
#include "calibrate/import/records/stated_gpus.h"
#include "calibrate/import/verl/driver_dialect.h"
#include "calibrate/import/verl/verl_log.h"
#include "core/json_value.h"

namespace sextant::inline calibrate {

struct VerlSource {
  std::string name;       // name of its runs
  VerlLog log;            // its configuration is in `config`
  bool is_table = false;  // one file of wandb, which may have a single metric
  std::vector<LeftOut> odd_steps;
  int summaries = 0;             // values over several steps, which are no samples
  std::string obstacle;          // why it is no log; empty: it is one
  bool is_asynchronous = false;  // as the source states; the metrics may say it too
  std::map<std::string, Json> config;
  // Mean lengths that the side file states, for steps that have none.
  std::optional<double> prompt_tokens, response_tokens;
  std::string gpu;  // the GPU as the file words it, which Facts::gpu_in reads; empty: not stated
  std::optional<int> gpus;
  int gpus_per_node = 0;  // 0: not stated
  bool has_first_engine = false;
  std::map<std::string, std::string> notes;
};

// Reads the GPUs from the members of `view` that are there.
void take_hardware(const JsonView& view, VerlSource& source);

// The tables (.csv) of a folder, by name.
[[nodiscard]] std::vector<std::filesystem::path> tables_in(const std::filesystem::path& folder);

// One source for a log, several for a collection of runs. Throws Error(bad_input) with the file's name; steps in
// another format are left out with their reasons. `stated` replaces the GPUs of file and side file; what no one
// states comes from the configuration. `dialect`: null for verl's own logs.
[[nodiscard]] std::vector<VerlSource> read_verl_sources(const std::filesystem::path& file,
                                                        const DriverDialect* dialect, const StatedGpus& stated);

}  // namespace sextant::inline calibrate
