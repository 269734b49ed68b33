// Synthetic runs of several models, plans, clusters, device types and frameworks.
#pragma once

#include "tests/calibrate/synthetic_runs.h"

namespace sextant::test {

// 64 runs of 16 workflows in 4 layouts each, as if on two hosts with three kinds of cores in total and by two
// frameworks.
inline Runs varied_runs() {
  Runs runs = synthetic_runs(synthetic_truth());
  const Cluster cores = two_cores();
  const DeviceType core = cores.device_types().at("core");
  std::vector<Node> nodes(2, cores.nodes().front());
  nodes[0].device_type = "little";
  nodes[1].device_type = "big";
  nodes[0].name = "first";
  nodes[1].name = "second";
  nodes[0].devices = nodes[1].devices = 1;
  std::map<LinkLevel, LinkRate> levels = cores.levels();
  levels[LinkLevel::within_zone] = levels.at(LinkLevel::within_node);
  runs.clusters["mixed"] = Cluster("mixed", {{"big", core}, {"little", core}}, nodes, levels);
  for (std::size_t r = 0; r < runs.runs.size(); ++r) {
    if (r % 4 == 1) runs.runs[r].cluster = "mixed";
    if (r % 3 == 0) runs.runs[r].framework = "another";
  }
  return runs;
}

}  // namespace sextant::test
