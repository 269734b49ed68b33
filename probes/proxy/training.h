// Training of one model on a rollout: for each mini-batch forward and backward passes of the replica's
// micro-batches in 1F1B order, gradients summed over the replicas, one Adam step.
//
// Actor: advantage-weighted negative log-likelihood, the mean over a sequence's response tokens; critic:
// half the squared error of the value against the return, likewise. Both are means over the mini-batch's
// sequences, so that the sum over replicas is right whatever their shares.
#pragma once

#include "probes/proxy/host_task.h"
#include "probes/proxy/model/head.h"
#include "probes/proxy/schedule.h"
#include "probes/proxy/stage.h"

namespace sextant::proxy {

class Training final : public HostTask {
 public:
  explicit Training(const TaskSetup& setup);
  void run(Rollout& rollout) override;
  [[nodiscard]] StageParameters& parameters() override { return worker_.parameters(); }

  // Sum over the mini-batches of the last run for this rank's replica; 0 except on the last stage.
  [[nodiscard]] double last_loss() const { return loss_; }
  // Computes the gradients of one mini-batch, summed over the replicas, without an optimizer step.
  void accumulate_gradients(const Rollout& rollout, int mini_batch);
  [[nodiscard]] int mini_batches() const { return static_cast<int>(mini_batches_.size()); }

  static constexpr float kLearningRate = 1e-4F;

 private:
  struct MiniBatch {
    int sequences = 0;  // over all replicas
    std::vector<Range> micro_batches;
  };
  // Data that is kept for a micro-batch between its two passes: everything that the backward pass needs, or
  // with recomputation each layer's input only.
  struct Slot {
    PackedBatch batch;
    std::vector<LayerStash> stashes;
    std::vector<Buffer> inputs;
  };

  void plan_mini_batches(const TaskSetup& setup);
  void make_slots(const TaskSetup& setup);
  [[nodiscard]] Matrix rows(Buffer& storage, int tokens) {
    return as_matrix(storage, tokens, worker_.hidden());
  }
  void forward(const Rollout& rollout, Range sequences, Slot& slot);
  void backward(const Rollout& rollout, const MiniBatch& mini_batch, Range sequences, Slot& slot);
  void start_backward(const Rollout& rollout, const MiniBatch& mini_batch, Range sequences, const Slot& slot,
                      Matrix dx);
  LayerStash& activations(Slot& slot, int layer);
  void set_targets(const Rollout& rollout, const MiniBatch& mini_batch, Range sequences,
                   const PackedBatch& batch);
  void reduce_gradients();

  const Workload* workload_;
  TaskGroup* group_;
  StageWorker worker_;
  bool recompute_;
  std::vector<MiniBatch> mini_batches_;
  BatchLimits limits_;
  std::vector<Slot> slots_;
  std::optional<LayerStash> recomputed_;
  std::optional<BackwardScratch> scratch_;
  std::optional<Head> head_;
  std::unique_ptr<Communicator> same_kv_heads_;  // ranks that share a KV head, if any
  Buffer x_;
  Buffer dx_;
  Targets targets_;
  double loss_ = 0;
};

}  // namespace sextant::proxy
