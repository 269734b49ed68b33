#include "probes/cuda/proxy/device_head.h"

namespace sextant::gpu {

using namespace proxy;

DeviceHead::DeviceHead(ProxyGpu& gpu, const Model& model, int rows, Purpose purpose)
    : gpu_(gpu),
      vocabulary_(model.vocabulary),
      normed_(static_cast<std::size_t>(rows) * model.hidden),
      reciprocal_(static_cast<std::size_t>(rows)),
      d_normed_(purpose == Purpose::training ? normed_.size() : 0),
      logits_(static_cast<std::size_t>(std::min(rows, kHeadRows)) * model.vocabulary) {}

DeviceMatrix DeviceHead::norm(DeviceMatrix x) {
  const DeviceMatrix normed = as_matrix(normed_, x.rows, x.columns);
  rms_norm(x.data, x.rows, x.columns, normed.data, reciprocal_.data(), gpu_.stream());
  return normed;
}

template <typename Action>
void DeviceHead::for_chunks(DeviceMatrix weights, DeviceMatrix normed, Action action) {
  for (int first = 0; first < normed.rows; first += kHeadRows) {
    const DeviceMatrix rows = normed.rows_from(first, std::min(kHeadRows, normed.rows - first));
    const DeviceMatrix logits = as_matrix(logits_, rows.rows, vocabulary_);
    gpu_.products().multiply(rows, Op::plain, weights, Op::transposed, logits);
    action(first, rows, logits);
  }
}

void DeviceHead::log_probabilities(DeviceMatrix weights, DeviceMatrix x, const int* targets, float* result) {
  for_chunks(weights, norm(x), [&](int first, DeviceMatrix rows, DeviceMatrix logits) {
    gpu::log_probabilities(logits.data, targets + first, rows.rows, vocabulary_, result + first, gpu_.stream());
  });
}

void DeviceHead::loss_and_gradients(DeviceMatrix weights, DeviceMatrix gradients, DeviceMatrix x,
                                    const int* targets, const float* factors, double* loss, DeviceMatrix dx) {
  const DeviceMatrix normed = norm(x);
  const DeviceMatrix d_normed = as_matrix(d_normed_, x.rows, x.columns);
  for_chunks(weights, normed, [&](int first, DeviceMatrix rows, DeviceMatrix logits) {
    loss_and_gradient(logits.data, targets + first, factors + first, rows.rows, vocabulary_, loss,
                      gpu_.stream());
    gpu_.products().multiply(logits, Op::transposed, rows, Op::plain, gradients, kAccumulate);
    gpu_.products().multiply(logits, Op::plain, weights, Op::plain, d_normed.rows_from(first, rows.rows));
  });
  check_cuda(cudaMemsetAsync(dx.data, 0, dx.size() * sizeof(Bf16), gpu_.stream()), "clearing a gradient");
  rms_norm_backward(d_normed.data, normed.data, reciprocal_.data(), x.rows, x.columns, dx.data, gpu_.stream());
}

DeviceSampler::DeviceSampler(ProxyGpu& gpu, const Model& model, int rows)
    : gpu_(gpu),
      vocabulary_(model.vocabulary),
      normed_(static_cast<std::size_t>(rows) * model.hidden),
      logits_(static_cast<std::size_t>(rows) * model.vocabulary) {}

void DeviceSampler::sample(DeviceMatrix weights, DeviceMatrix x, const std::uint64_t* keys, DecodeRows rows,
                           SampledTokens sampled) {
  const DeviceMatrix normed = as_matrix(normed_, x.rows, x.columns);
  rms_norm(x.data, x.rows, x.columns, normed.data, nullptr, gpu_.stream());
  gpu_.products().multiply(normed, Op::plain, weights, Op::transposed,
                           FloatDeviceMatrix{logits_.data(), x.rows, vocabulary_, vocabulary_});
  gpu::sample(logits_.data(), vocabulary_, keys, rows, sampled, gpu_.stream());
}

}  // namespace sextant::gpu
