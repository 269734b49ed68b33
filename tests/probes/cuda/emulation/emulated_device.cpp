// Devices, streams, graphs and events.
#include "tests/probes/cuda/emulation/emulated_device.h"

#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <utility>
#include <vector>

struct CUgraph_st {
  std::vector<std::function<void()>> work;
};
struct CUevent_st {
  std::uint64_t recorded_ns = 0;
};
struct CUgraphExec_st {
  std::vector<std::function<void()>> work;
};

namespace {

constexpr int kCache = 1 << 20;
// A process uses one, and each has its own.
thread_local int first_shown = 0;
thread_local int shown = 8;
thread_local bool are_usable = true;

CUgraph_st* recording = nullptr;
EmulatedHost host;

}  // namespace

std::uint64_t emulated_nanoseconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

EmulatedHost& emulated_host() { return host; }

void emulated_queue(std::function<void()> work) {
  if (recording != nullptr) {
    recording->work.push_back(std::move(work));
  } else {
    work();
  }
}

const char* cudaGetErrorString(cudaError_t error) {
  if (error == cudaErrorNoDevice) return "no CUDA-capable device is detected";
  if (error == cudaErrorInvalidValue) return "invalid argument";
  return error == cudaSuccess ? "no error" : "out of memory";
}
void emulated_show_devices(int first, int count, bool usable) {
  first_shown = first;
  shown = count;
  are_usable = usable;
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = shown;
  return host.answers ? cudaSuccess : cudaErrorNoDevice;
}
cudaError_t cudaSetDevice(int) { return are_usable ? cudaSuccess : cudaErrorMemoryAllocation; }
cudaError_t cudaDeviceGetPCIBusId(char* bus_id, int length, int device) {
  return std::snprintf(bus_id, static_cast<std::size_t>(length), "0000:%02x:00.0", first_shown + device),
         cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {"emulated", 9, 0, host.processors, kCache, 1};
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  *value = attribute == cudaDevAttrL2CacheSize ? kCache : host.processors;
  return host.answers ? cudaSuccess : cudaErrorInvalidValue;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel, int threads,
                                                          std::size_t) {
  if (kernel == nullptr || threads < 1 || threads > 1024) return cudaErrorInvalidValue;
  return *blocks = host.blocks_per_processor, cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int* can_access, int device, int other) {
  *can_access = device != other && host.peers_see_each_other ? 1 : 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) {
  return host.peers_see_each_other ? cudaErrorPeerAccessAlreadyEnabled : cudaErrorInvalidValue;
}
cudaError_t cudaDriverGetVersion(int* version) { return *version = 13000, cudaSuccess; }
cudaError_t cudaRuntimeGetVersion(int* version) { return *version = 12080, cudaSuccess; }
cudaError_t cudaGetLastError() { return cudaSuccess; }

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) { return *stream = nullptr, cudaSuccess; }
cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamQuery(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaGetDevice(int* device) { return *device = 0, cudaSuccess; }
cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t) {
  if (recording != nullptr) throw std::logic_error("a wait while a graph is recorded");
  return cudaSuccess;
}
cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
  recording = new CUgraph_st;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t* graph) {
  *graph = recording;
  recording = nullptr;
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  *executable = new CUgraphExec_st{graph->work};
  return cudaSuccess;
}
cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t) {
  for (const auto& work : executable->work) work();
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  delete executable;
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }
cudaError_t cudaEventCreate(cudaEvent_t* event) { return *event = new CUevent_st, cudaSuccess; }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) { return cudaEventCreate(event); }
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  emulated_queue([event] { event->recorded_ns = emulated_nanoseconds(); });
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float* elapsed_ms, cudaEvent_t start, cudaEvent_t stop) {
  *elapsed_ms = 1e-6F * static_cast<float>(stop->recorded_ns - start->recorded_ns);
  return cudaSuccess;
}
