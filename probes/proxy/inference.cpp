#include "probes/proxy/inference.h"

namespace sextant::proxy {
namespace {

BatchLimits limits_of(const Workload& workload, const std::vector<Range>& micro_batches) {
  BatchLimits limits;
  for (const Range& sequences : micro_batches) limits.include(workload.lengths(sequences));
  return limits;
}

}  // namespace

void set_response_targets(const Workload& workload, Range sequences, const PackedBatch& batch,
                          Targets& targets) {
  targets.resize(batch.token_count());
  for (int s = 0; s < batch.sequences(); ++s) {
    const int end = batch.offset(s + 1);
    for (int row = batch.offset(s) + workload.prompt(sequences.begin + s) - 1; row + 1 < end; ++row) {
      targets.tokens[static_cast<std::size_t>(row)] = batch.tokens[static_cast<std::size_t>(row) + 1];
    }
  }
}

Inference::Inference(const TaskSetup& setup)
    : workload_(&setup.workload),
      role_(role_of(setup.workflow, setup.task)),
      worker_(setup, Purpose::forward_only),
      micro_batches_(
          cut_by_size(replica_range(setup.plan, setup.group.position().replica, setup.workload.all()),
                      setup.plan.micro_batch_sequences)),
      limits_(limits_of(setup.workload, micro_batches_)),
      stash_(worker_.layer_shape(), limits_, false),
      x_(static_cast<std::size_t>(limits_.tokens) * worker_.hidden()),
      results_(static_cast<std::size_t>(limits_.tokens)) {
  if (worker_.shape().is_last()) {
    head_.emplace(worker_.shape(), worker_.tensor(), limits_.tokens, Purpose::forward_only);
  }
}

void Inference::run(Rollout& rollout) {
  for (const Range& sequences : micro_batches_) {
    forward(rollout, sequences);
    const Matrix x = as_matrix(x_, batch_.token_count(), worker_.hidden());
    if (worker_.shape().is_last()) {
      write_results(rollout, sequences, x);
    } else {
      worker_.link().send_forward(x.flat());
    }
  }
  worker_.link().finish();
}

void Inference::forward(const Rollout& rollout, Range sequences) {
  pack_sequences(*workload_, rollout, sequences, batch_);
  const Matrix x = as_matrix(x_, batch_.token_count(), worker_.hidden());
  worker_.take_input(batch_.tokens, x);
  for (int layer = 0; layer < worker_.shape().layers; ++layer) {
    forward_layer(worker_.context(), worker_.parameters().layer(layer), batch_, stash_, x);
  }
}

void Inference::write_results(Rollout& rollout, Range sequences, ConstMatrix x) {
  const std::span<float> results = std::span(results_).first(static_cast<std::size_t>(x.rows));
  if (role_ == Role::reference) {
    set_response_targets(*workload_, sequences, batch_, targets_);
    head_->log_probabilities(worker_.parameters().head(), x, targets_, results);
  } else {
    head_->values(worker_.parameters().head(), x, results);
  }
  if (!worker_.writes_results()) return;
  std::vector<float>& by_token = role_ == Role::reference ? rollout.log_probabilities : rollout.values;
  for (int s = 0; s < batch_.sequences(); ++s) {
    const int sequence = sequences.begin + s;
    const float* of_sequence = results.data() + batch_.offset(s);
    if (role_ == Role::reward) {
      rollout.rewards[static_cast<std::size_t>(sequence)] = of_sequence[batch_.length(s) - 1];
      continue;
    }
    // The row before a token tells about the token.
    const int prompt = workload_->prompt(sequence);
    std::copy_n(of_sequence + prompt - 1, workload_->response(sequence),
                by_token.data() + workload_->offset(sequence) + prompt);
  }
}

}  // namespace sextant::proxy
