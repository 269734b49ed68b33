#include "ask/runs/configured_cluster.h"

#include <optional>

#include "ask/data_files.h"
#include "ask/words/published_hardware.h"
#include "sextant/document.h"
#include "sextant/error.h"

namespace sextant::inline ask {
namespace {

// "H100" and "p5.48xlarge", not "8xH100" and "H100+L40S".
bool is_type_alone(const std::string& gpus) {
  const std::size_t x = gpus.find_first_of("xX");
  const bool has_count = x != std::string::npos && x > 0 &&
                         gpus.substr(0, x).find_first_not_of("0123456789.-") == std::string::npos;
  return !has_count && gpus.find('+') == std::string::npos;
}

// True if all GPUs of the cluster are of this type, which may be that of an instance.
bool has_type(const Cluster& cluster, const std::string& type, const Facts& facts,
              const PublishedHardware& hardware) {
  const Instance* instance = hardware.find_instance(type);
  if (instance != nullptr) return cluster.name().find(" x " + instance->name) != std::string::npos;
  if (!facts.has_gpu(type)) return false;
  for (int i = 0; i < cluster.device_count(); ++i) {
    if (cluster.type_name(DeviceId{i}) != facts.gpu(type).name) return false;
  }
  return true;
}

// "H100" becomes "2x8xH100" with the nodes and GPUs of the configuration.
std::string completed(const std::string& type, const RunFacts& facts, const PublishedHardware& hardware,
                      std::vector<std::string>& assumed) {
  const long long gpus = 1LL * facts.nodes * facts.gpus_per_node;
  if (gpus > Cluster::kMaxDevices)
    throw_bad_input("the configuration has " + std::to_string(facts.nodes) + " nodes of " +
                    std::to_string(facts.gpus_per_node) + " GPUs: a cluster has at most " +
                    std::to_string(Cluster::kMaxDevices) + " GPUs");
  const Instance* instance = hardware.find_instance(type);
  const std::string text =
      instance == nullptr ? std::to_string(facts.nodes) + "x" + std::to_string(facts.gpus_per_node) + "x" + type
                          : std::to_string((gpus + instance->gpus - 1) / instance->gpus) + "x" + instance->name;
  assumed.push_back("--gpus " + text + ", as the configuration has nodes and GPUs");
  return text;
}

}  // namespace

Cluster configured_cluster(const ClusterSources& sources, const RunFacts& facts,
                           std::vector<std::string>& assumed, std::vector<std::string>& notes) {
  if (!sources.document.empty()) return load_document<Cluster>(sources.document).content;
  const std::string& given = sources.words.gpus;
  if (!given.empty() && !is_type_alone(given)) return cluster_of(sources.words, notes);
  const std::filesystem::path data = data_folder();
  const Facts known = Facts::load(data / "gpus.json", data / "models.json");
  const PublishedHardware hardware = PublishedHardware::load(data);
  ClusterOptions options = sources.words;
  if (const auto named = words_of_title(sources.in_script, known, data)) {
    options.gpus = named->gpus;
    if (options.network.inside.empty()) options.network.inside = named->network.inside;
    options.network.outside = named->network.outside;
    std::vector<std::string> own_notes;
    Cluster cluster = cluster_of(options, own_notes);
    if (given.empty() || has_type(cluster, given, known, hardware)) {
      assumed.push_back("--gpus " + options.gpus +
                        ", the cluster that the script's comments name: " + cluster.name());
      notes.insert(notes.end(), own_notes.begin(), own_notes.end());
      return cluster;
    }
  }
  if (given.empty())
    throw_bad_input(
        "a configuration does not say the type of its GPUs: add --gpus, for example --gpus H100, or --cluster");
  options = sources.words;
  options.gpus = completed(given, facts, hardware, assumed);
  return cluster_of(options, notes);
}

}  // namespace sextant::inline ask
