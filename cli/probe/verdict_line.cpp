#include "cli/probe/verdict_line.h"

#include "ask/data_files.h"
#include "ask/measured/cluster_verdict.h"
#include "cli/shared/command.h"

namespace sextant::cli {

void print_verdict(const Cluster& cluster) {
  const auto data = find_data_folder();
  if (!data) return;
  const ClusterVerdict verdict =
      judge_cluster(cluster, Facts::load(*data / "gpus.json", *data / "models.json"));
  for (const std::string& odd : verdict.odd) print_line(odd);
  print_line(verdict.sentence);
}

}  // namespace sextant::cli
