// A cluster from a few words: "4x8xH100", "32xH100", "16xp5.48xlarge", "4x8xH100+2x8xL40S@us-east-2".
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/import/records/facts.h"
#include "sextant/cluster.h"

namespace sextant::inline ask {

// Figures that replace those of the GPU's usual node. Empty names leave them.
struct NetworkChoice {
  std::string
      inside;  // a preset of data/link_presets.json between the nodes of a group, or Gbit/s for each GPU
  std::string outside;  // between groups at different places: a preset, or Gbit/s of the whole connection
};

struct ClusterFromText {
  Cluster cluster;
  std::vector<std::string> notes;  // sentences on what was assumed
};

// Groups of nodes are joined by "+". A group is NODESxGPUSxNAME, GPUSxNAME (as many nodes as it takes) or
// COUNTxINSTANCE, and "@REGION" if it is somewhere else than the others. NAME is a name or alias of
// data/gpus.json, INSTANCE one of data/instances.json. The nodes of a group form a zone of their own (a zone
// for each rack of GPUs that come in racks), groups of one region are connected by the slower of their
// networks, and regions by NetworkChoice::outside or, if it is empty, by a connection of 10 Gbit/s with 15 ms,
// which a note says.
//
// Throws Error(bad_input) that quotes the part which is wrong, with the nearest names for one that is unknown.
[[nodiscard]] ClusterFromText cluster_from_text(const std::string& text, const NetworkChoice& network,
                                                const Facts& facts, const std::filesystem::path& data);

// The arguments of cluster_from_text that make a cluster of this name; nullopt: it was not made from words.
struct ClusterWords {
  std::string gpus;
  NetworkChoice network;
};
[[nodiscard]] std::optional<ClusterWords> words_of_title(const std::string& title, const Facts& facts,
                                                         const std::filesystem::path& data);

}  // namespace sextant::inline ask
