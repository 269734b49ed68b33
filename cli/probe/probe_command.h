// The options of `sextant probe`.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "probes/campaign/findings.h"
#include "probes/campaign/probe_options.h"
#include "sextant/precision.h"

namespace sextant::cli {

// The files that a probe writes, whatever it measures.
struct ProbeFiles {
  std::string out;
  std::string samples;
  bool json = false;
  std::string journal;  // empty: no journal
  bool resume = false;
  bool dry_run = false;

  // Returns the name of the journal next to the outputs; empty if there is none of them.
  [[nodiscard]] std::string journal_beside_outputs() const {
    const std::string& beside = out.empty() ? samples : out;
    return beside.empty() ? "" : beside + ".journal";
  }
};

struct ProbeCommand {
  ProbeOptions probe;
  ProbeFiles files;
  std::string places;
  std::string model;
  std::string devices = "auto";
  std::vector<Precision> model_precisions = {Precision::bf16};
  double total_budget_s = 50;
  // Called on a thread of its own with the results so far if a rank that all others wait for was lost, before the
  // program ends with exit code 3; may be empty.
  std::function<void(const ClusterProbe& probe)> on_remains = {};
  std::string emulated;  // one of emulated_names(): nothing is measured
};

}  // namespace sextant::cli
