#include "cli/probe/probe_emulated.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "ask/data_files.h"
#include "calibrate/import/published/hetrl_clusters.h"
#include "calibrate/import/records/facts.h"
#include "cli/shared/command.h"
#include "sextant/error.h"

namespace sextant::cli {

std::vector<std::string> emulated_names() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kHetrlNetworks.size(); ++i) names.push_back("hetrl-" + std::to_string(i + 1));
  return names;
}

int probe_emulated(const std::string& name, const std::string& out, bool json) {
  const std::vector<std::string> names = emulated_names();
  const auto found = std::find(names.begin(), names.end(), name);
  SEXTANT_CHECK(found != names.end());  // the option takes no other
  const HetrlNetwork network = kHetrlNetworks[static_cast<std::size_t>(found - names.begin())];
  const std::filesystem::path data = data_folder();
  const Cluster cluster = hetrl_cluster(Facts::load(data / "gpus.json", data / "models.json"), network);
  if (!out.empty()) save_document(out, cluster);
  if (out.empty() || json) print_document(cluster);
  std::fprintf(stderr, "nothing was measured: %d GPUs of HetRL's %s network, as the paper has them\n",
               cluster.device_count(), std::string(name_of(network)).c_str());
  if (!out.empty()) say_wrote(out);
  return kDone;
}

}  // namespace sextant::cli
