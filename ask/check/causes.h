// Single changes of a run's circumstances that could explain why it took longer than predicted, or make it
// faster.
#pragma once

#include <string>
#include <vector>

#include "sextant/cluster.h"
#include "sextant/coefficients.h"
#include "sextant/plan.h"
#include "sextant/workflow.h"

namespace sextant::inline ask {

// The circumstances that a run is predicted from.
struct Circumstances {
  Cluster cluster;
  Workflow workflow;
  Plan plan;
};

struct Change {
  std::string name;  // "the network between nodes at half of the stated rate", "recomputation in training"
  std::string kind;  // equal for the sizes of one change
  Circumstances with;
};

// Parts of the distribution of responses that a run was measured with, so that no others can explain its times.
struct KnownResponses {
  bool mean = false;
  bool tail = false;
};

// The faults that people report, one at a time and some in several sizes: slow links of each level, slow arithmetic, memory
// or both of a device type, recomputation left on, padding instead of packing, a small KV cache, decoding without CUDA graphs,
// prompts that are prefilled for each response, longer responses and a longer tail, states on the host, tensor
// parallelism across nodes. Only those that make a difference to this plan, can run, and contradict nothing that
// is known.
[[nodiscard]] std::vector<Change> possible_faults(const Circumstances& run, const KnownResponses& known = {});

// Settings that a user could change without other machines, where they differ from the plan's: no
// recomputation, selective recomputation, packing, CUDA graphs, shared prompts, twice and four times the tokens
// of a micro-batch, twice the KV cache, states that stay on the devices, sharding of states (ZeRO 1, 3).
[[nodiscard]] std::vector<Change> possible_settings(const Circumstances& run);

}  // namespace sextant::inline ask
