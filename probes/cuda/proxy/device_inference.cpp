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
      head_(gpu, model(), limits_.tokens, Purpose::forward_only),
      batch_(limits_),
      x_(static_cast<std::size_t>(limits_.tokens) * model().hidden),
      targets_(static_cast<std::size_t>(limits_.tokens)),
      results_(tokens_of_all(setup.workload, micro_batches_)) {}

void DeviceInference::run(Rollout& rollout) {
  if (micro_batches_.empty()) return;
  const std::size_t before = workload_->offset(micro_batches_.front().begin);
  for (const Range& sequences : micro_batches_) {
    forward(rollout, sequences, workload_->offset(sequences.begin) - before);
  }
  std::vector<float> results(results_.size());
  check_cuda(cudaMemcpyAsync(results.data(), results_.data(), results.size() * sizeof(float),
                             cudaMemcpyDeviceToHost, gpu().stream()),
             "reading log-probabilities");
  gpu().wait("computing log-probabilities");
  for (int i = micro_batches_.front().begin; i < micro_batches_.back().end; ++i) {
    // The row before a token tells about the token.
    const float* of_sequence = results.data() + (workload_->offset(i) - before);
    const int prompt = workload_->prompt(i);
    std::copy_n(of_sequence + prompt - 1, workload_->response(i),
                rollout.log_probabilities.data() + workload_->offset(i) + prompt);
  }
}

void DeviceInference::forward(const Rollout& rollout, Range sequences, std::size_t first_row) {
  pack_sequences(*workload_, rollout, sequences, packed_);
  batch_.upload(gpu(), packed_);
  set_response_targets(*workload_, sequences, packed_, wanted_);
  gpu().uploads().copy(std::span<const int>(wanted_.tokens), targets_.data());
  const DeviceMatrix x = as_matrix(x_, packed_.token_count(), model().hidden);
  embed(parameters().embedding().data, batch_.tokens(), nullptr, x.rows, x.columns, x.data, gpu().stream());
  for (int layer = 0; layer < model().layers; ++layer) {
    forward_layer(context(), parameters().layer(layer), batch_, stash_, scratch_, x);
  }
  head_.log_probabilities(parameters().head(), x, targets_.data(), results_.data() + first_row);
}

}  // namespace sextant::gpu
