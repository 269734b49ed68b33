// Forward passes of whole sequences, in micro-batches through the pipeline: log-probabilities of the
// response tokens (head over all positions), values, or rewards (value of the last token).
#pragma once

#include "probes/proxy/host_task.h"
#include "probes/proxy/model/head.h"
#include "probes/proxy/stage.h"

namespace sextant::proxy {

class Inference final : public HostTask {
 public:
  explicit Inference(const TaskSetup& setup);
  void run(Rollout& rollout) override;
  [[nodiscard]] StageParameters& parameters() override { return worker_.parameters(); }

 private:
  void forward(const Rollout& rollout, Range sequences);
  void write_results(Rollout& rollout, Range sequences, ConstMatrix x);

  const Workload* workload_;
  Role role_;
  StageWorker worker_;
  std::vector<Range> micro_batches_;
  BatchLimits limits_;
  LayerStash stash_;
  std::optional<Head> head_;
  Buffer x_;
  Buffer results_;  // by token of a micro-batch
  PackedBatch batch_;
  Targets targets_;
};

// Lets row `position` of each packed sequence predict the next token, for all response tokens.
void set_response_targets(const Workload& workload, Range sequences, const PackedBatch& batch,
                          Targets& targets);

}  // namespace sextant::proxy
