// The work of one stream, recorded once and replayed with one launch.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>

namespace sextant::gpu {

class DecodeGraph {
 public:
  // Records the work that `queue` puts on the stream, without running it. Throws Error(machine) on failure.
  DecodeGraph(cudaStream_t stream, const std::function<void()>& queue);
  ~DecodeGraph();
  DecodeGraph(const DecodeGraph&) = delete;
  DecodeGraph& operator=(const DecodeGraph&) = delete;
  void launch(cudaStream_t stream) const;

 private:
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace sextant::gpu
