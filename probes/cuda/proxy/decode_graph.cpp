#include "probes/cuda/proxy/decode_graph.h"

#include "probes/cuda/cuda_resources.h"

namespace sextant::gpu {

DecodeGraph::DecodeGraph(cudaStream_t stream, const std::function<void()>& queue) {
  check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "starting to record a graph");
  try {
    queue();
  } catch (...) {
    // The stream must leave the capture, or nothing else would run on it.
    static_cast<void>(cudaStreamEndCapture(stream, &graph_));
    if (graph_ != nullptr) static_cast<void>(cudaGraphDestroy(graph_));
    throw;
  }
  check_cuda(cudaStreamEndCapture(stream, &graph_), "recording a graph");
  check_cuda(cudaGraphInstantiate(&executable_, graph_, 0), "preparing a graph");
  check_cuda(cudaGraphUpload(executable_, stream), "uploading a graph");
}

DecodeGraph::~DecodeGraph() {
  if (executable_ != nullptr) static_cast<void>(cudaGraphExecDestroy(executable_));
  if (graph_ != nullptr) static_cast<void>(cudaGraphDestroy(graph_));
}

void DecodeGraph::launch(cudaStream_t stream) const {
  check_cuda(cudaGraphLaunch(executable_, stream), "launching a graph");
}

}  // namespace sextant::gpu
