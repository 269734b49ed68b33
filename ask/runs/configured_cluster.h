// The cluster of a framework's configuration, which says how many GPUs there are and not which.
#pragma once

#include <string>
#include <vector>

#include "ask/question.h"
#include "reports/export/trainers/script_comments.h"
#include "reports/import/importer.h"
#include "sextant/cluster.h"

namespace sextant::inline ask {

struct ClusterSources {
  std::string document;   // --cluster; empty: not given
  ClusterOptions words;   // --gpus: a whole cluster, or only the type of its GPUs or instances; may be empty
  std::string in_script;  // the name in the comments of an exported script; may be empty
};

// The document's cluster, or that of --gpus. A type alone is completed by the cluster that the script names, if
// its GPUs are of that type, and otherwise by the configuration's nodes and GPUs. `assumed` receives what was
// completed, `notes` what is assumed about the network. Throws Error(bad_input) if nothing names the type.
[[nodiscard]] Cluster configured_cluster(const ClusterSources& sources, const RunFacts& facts,
                                         std::vector<std::string>& assumed, std::vector<std::string>& notes);

}  // namespace sextant::inline ask
