#include "ask/words/stated_gpus_text.h"

#include "ask/words/cluster_text.h"
#include "sextant/error.h"

namespace sextant::inline ask {

StatedGpus stated_gpus_from_text(const std::string& text, const Facts& facts,
                                 const std::filesystem::path& data) {
  if (text.empty()) return {};
  if (facts.has_gpu(text)) return {facts.gpu(text).name, std::nullopt, 0};
  const Cluster cluster = cluster_from_text(text, {}, facts, data).cluster;
  const std::string& type = cluster.type_name(DeviceId{0});
  int per_node = 0;
  for (int i = 0; i < cluster.device_count(); ++i) {
    if (cluster.type_name(DeviceId{i}) != type)
      throw_bad_input("--gpus " + text + ": the GPUs of a log are of one type");
    per_node += cluster.node_of(DeviceId{i}) == cluster.node_of(DeviceId{0}) ? 1 : 0;
  }
  return {type, cluster.device_count(), per_node};
}

}  // namespace sextant::inline ask
