#include "probes/cuda/proxy/device_head.h"

namespace sextant::gpu {

using namespace proxy;

DeviceHead::DeviceHead(ProxyGpu& gpu, const StageShape& shape, GpuCollectives* tensor, int rows,
                       Purpose purpose)
    : gpu_(gpu),
      tensor_(tensor),
      part_{shape.first_token(), shape.vocabulary()},
      normed_(static_cast<std::size_t>(rows) * shape.model.hidden),
      reciprocal_(static_cast<std::size_t>(rows)),
      d_normed_(purpose == Purpose::training ? normed_.size() : 0),
      logits_(static_cast<std::size_t>(std::min(rows, kHeadRows)) * part_.count),
      parts_(tensor, std::min(rows, kHeadRows)) {}

DeviceMatrix DeviceHead::norm(DeviceMatrix x) {
  const DeviceMatrix normed = as_matrix(normed_, x.rows, x.columns);
  rms_norm(x.data, x.rows, x.columns, normed.data, reciprocal_.data(), gpu_.stream());
  return normed;
}

GatheredRows DeviceHead::gather(DeviceMatrix logits, const int* targets) {
  if (!parts_.is_needed()) return {};
  reduce_rows(logits.data, part_, targets, logits.rows, parts_.mine(), gpu_.stream());
  return {parts_.gather(logits.rows, gpu_.stream()), parts_.ranks()};
}

template <typename Action>
void DeviceHead::for_chunks(DeviceMatrix weights, DeviceMatrix normed, Action action) {
  for (int first = 0; first < normed.rows; first += kHeadRows) {
    const DeviceMatrix rows = normed.rows_from(first, std::min(kHeadRows, normed.rows - first));
    const DeviceMatrix logits = as_matrix(logits_, rows.rows, part_.count);
    gpu_.products().multiply(rows, Op::plain, weights, Op::transposed, logits);
    action(first, rows, logits);
  }
}

void DeviceHead::log_probabilities(DeviceMatrix weights, DeviceMatrix x, const int* targets, float* result) {
  for_chunks(weights, norm(x), [&](int first, DeviceMatrix rows, DeviceMatrix logits) {
    gpu::log_probabilities(logits.data, part_, gather(logits, targets + first), targets + first, rows.rows,
                           result + first, gpu_.stream());
  });
}

void DeviceHead::loss_and_gradients(DeviceMatrix weights, DeviceMatrix gradients, DeviceMatrix x,
                                    const int* targets, const float* factors, double* loss, DeviceMatrix dx) {
  const DeviceMatrix normed = norm(x);
  const DeviceMatrix d_normed = as_matrix(d_normed_, x.rows, x.columns);
  for_chunks(weights, normed, [&](int first, DeviceMatrix rows, DeviceMatrix logits) {
    loss_and_gradient(logits.data, part_, gather(logits, targets + first), targets + first, factors + first,
                      rows.rows, loss, gpu_.stream());
    gpu_.products().multiply(logits, Op::transposed, rows, Op::plain, gradients, kAccumulate);
    gpu_.products().multiply(logits, Op::plain, weights, Op::plain, d_normed.rows_from(first, rows.rows));
  });
  if (tensor_ != nullptr) tensor_->all_reduce_sum(d_normed.data, d_normed.size(), gpu_.stream());
  check_cuda(cudaMemsetAsync(dx.data, 0, dx.size() * sizeof(Bf16), gpu_.stream()), "clearing a gradient");
  rms_norm_backward(d_normed.data, normed.data, reciprocal_.data(), x.rows, x.columns, dx.data, gpu_.stream());
}

DeviceSampler::DeviceSampler(ProxyGpu& gpu, const StageShape& shape, GpuCollectives* tensor, int rows)
    : gpu_(gpu),
      part_{shape.first_token(), shape.vocabulary()},
      normed_(static_cast<std::size_t>(rows) * shape.model.hidden),
      logits_(static_cast<std::size_t>(rows) * part_.count),
      best_(tensor, rows) {}

void DeviceSampler::sample(DeviceMatrix weights, DeviceMatrix x, const std::uint64_t* keys, DecodeRows rows,
                           SampledTokens sampled) {
  const DeviceMatrix normed = as_matrix(normed_, x.rows, x.columns);
  rms_norm(x.data, x.rows, x.columns, normed.data, nullptr, gpu_.stream());
  gpu_.products().multiply(normed, Op::plain, weights, Op::transposed,
                           FloatDeviceMatrix{logits_.data(), x.rows, part_.count, part_.count});
  if (!best_.is_needed()) {
    gpu::sample(logits_.data(), part_.count, keys, rows, sampled, gpu_.stream());
    return;
  }
  find_best(logits_.data(), part_, keys, x.rows, best_.mine(), gpu_.stream());
  choose_best(best_.gather(x.rows, gpu_.stream()), best_.ranks(), rows, sampled, gpu_.stream());
}

}  // namespace sextant::gpu
