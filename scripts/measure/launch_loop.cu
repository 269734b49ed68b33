// Launches tiny kernels one after another, waiting between two for a given time on the host, and prints what a launch
// takes: a program that is bound by its launches and by nothing else.
//
//   launch_loop SECONDS WAIT_US...
//
// A line of JSON for each wait: microseconds a launch, wait included, of every quarter of a second.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void increment(float* values) { values[threadIdx.x] += 1.0F; }

namespace {

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Seconds of one round of launches with a synchronisation behind it.
double round_s(float* values, int launches, double wait_s) {
  const double began_s = now_s();
  for (int i = 0; i < launches; ++i) {
    increment<<<1, 256>>>(values);
    const double until_s = now_s() + wait_s;
    while (wait_s > 0 && now_s() < until_s) {
    }
  }
  cudaDeviceSynchronize();
  return now_s() - began_s;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: launch_loop SECONDS WAIT_US...\n");
    return 2;
  }
  constexpr double kSlice_s = 0.25;
  const double seconds = std::atof(argv[1]);
  float* values = nullptr;
  if (cudaMalloc(&values, 256 * sizeof(float)) != cudaSuccess) return 3;
  for (int k = 2; k < argc; ++k) {
    const double wait_us = std::atof(argv[k]);
    const int launches = static_cast<int>(kSlice_s / ((4.0 + wait_us) * 1e-6));
    round_s(values, launches, wait_us * 1e-6);
    std::printf("{\"wait_us\": %g, \"us_per_launch\": [", wait_us);
    const double began_s = now_s();
    for (bool first = true; first || now_s() - began_s < seconds; first = false) {
      std::printf("%s%.4f", first ? "" : ", ", round_s(values, launches, wait_us * 1e-6) / launches * 1e6);
    }
    std::printf("]}\n");
    std::fflush(stdout);
  }
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  return error == cudaSuccess ? 0 : 3;
}
