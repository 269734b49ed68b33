#include "probes/cuda/proxy/device_inference.h"

#include <algorithm>

#include "probes/proxy/inference.h"

namespace sextant::gpu {

using namespace proxy;

namespace {

AttentionLimits limits_of(const Workload& workload, const std::vector<Range>& micro_batches) {
  AttentionLimits limits;
  for (const Range& sequences : micro_batches) limits.include(workload.lengths(sequences));
  return limits;
}

std::size_t tokens_of_all(const Workload& workload, const std::vector<Range>& micro_batches) {
  if (micro_batches.empty()) return 0;
  return workload.offset(micro_batches.back().end) - workload.offset(micro_batches.front().begin);
}

}  // namespace

DeviceInference::DeviceInference(ProxyGpu& gpu, const TaskSetup& setup)
    : DeviceTask(gpu, setup, Purpose::forward_only),
      workload_(&setup.workload),
      micro_batches_(
          cut_by_size(replica_range(setup.plan, setup.group.position().replica, setup.workload.all()),
                      setup.plan.micro_batch_sequences)),
      limits_(limits_of(setup.workload, micro_batches_)),
      stash_(layer_shape(), limits_, false),
      scratch_(layer_shape(), limits_, Purpose::forward_only),
      batch_(limits_),
      x_(static_cast<std::size_t>(limits_.tokens) * hidden()),
      targets_(static_cast<std::size_t>(limits_.tokens)),
      results_(shape().is_last() ? tokens_of_all(setup.workload, micro_batches_) : 0) {
  if (shape().is_last()) head_.emplace(gpu, shape(), tensor(), limits_.tokens, Purpose::forward_only);
  make_link(setup.group,
            link_sizes(TaskKind::inference, setup.group.my_replica().pipeline_parallel(), 1, x_.bytes(), 0));
}

void DeviceInference::run(Rollout& rollout) {
  for (const Range& sequences : micro_batches_) {
    forward(rollout, sequences,
            workload_->offset(sequences.begin) - workload_->offset(micro_batches_.front().begin));
  }
  if (writes_results() && !micro_batches_.empty()) return read_results(rollout);
  finish("computing log-probabilities");
}

void DeviceInference::forward(const Rollout& rollout, Range sequences, std::size_t first_row) {
  pack_sequences(*workload_, rollout, sequences, packed_);
  batch_.upload(gpu(), packed_);
  const DeviceMatrix x = as_matrix(x_, packed_.token_count(), hidden());
  take_input(batch_.tokens(), nullptr, x);
  for (int layer = 0; layer < shape().layers; ++layer) {
    forward_layer(context(), parameters().layer(layer), batch_, stash_, scratch_, x);
  }
  if (!shape().is_last()) return link().send_forward(x);
  set_response_targets(*workload_, sequences, packed_, wanted_);
  gpu().uploads().copy(std::span<const int>(wanted_.tokens), targets_.data());
  head_->log_probabilities(parameters().head(), x, targets_.data(), results_.data() + first_row);
}

void DeviceInference::read_results(Rollout& rollout) {
  std::vector<float> results(results_.size());
  check_cuda(cudaMemcpyAsync(results.data(), results_.data(), results.size() * sizeof(float),
                             cudaMemcpyDeviceToHost, gpu().stream()),
             "reading log-probabilities");
  finish("computing log-probabilities");
  const std::size_t before = workload_->offset(micro_batches_.front().begin);
  for (int i = micro_batches_.front().begin; i < micro_batches_.back().end; ++i) {
    // The row before a token tells about the token.
    const float* of_sequence = results.data() + (workload_->offset(i) - before);
    const int prompt = workload_->prompt(i);
    std::copy_n(of_sequence + prompt - 1, workload_->response(i),
                rollout.log_probabilities.data() + workload_->offset(i) + prompt);
  }
}

}  // namespace sextant::gpu
