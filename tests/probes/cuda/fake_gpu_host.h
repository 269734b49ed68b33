// A host with GPUs, a driver and a library of collectives under a test's control.
#pragma once

#include <memory>
#include <regex>
#include <string>
#include <utility>

#include "core/table_file.h"
#include "probes/gpu/gpu_cluster.h"
#include "tests/probes/collective/host_collectives.h"
#include "tests/probes/cuda/fake_gpus.h"
#include "tests/probes/topology/fake_fabric.h"
#include "tests/probes/topology/pci_tree.h"

namespace sextant {

inline CollectivesOrReason no_nccl(Communicator&, int) {
  return {nullptr, "NCCL could not be loaded: install it"};
}

// Real exchanges between threads or ranks, over a clock of its own.
inline CollectivesOrReason on_host_memory(Communicator& ranks, int) {
  auto library = std::make_unique<HostCollectives>(ranks);
  library->name_ = "nccl";
  // Real times of a busy machine may not lie on a line.
  library->message_s_ = [](std::size_t bytes) { return 5e-6 + static_cast<double>(bytes) / 20e9; };
  return {std::move(library), ""};
}

// Returns the cluster without times, because ranks make the same cluster at different times.
inline std::string without_times(const Cluster& cluster) {
  static const std::regex time("\"time_utc\":\"[^\"]*\"");
  return std::regex_replace(cluster.to_json().dump(), time, "");
}

// A host with fake GPUs and the properties that a test sets.
struct FakeHost {
  explicit FakeHost(int count) : gpus(clock, count) {}

  [[nodiscard]] GpuTools tools() { return {gpus, sensors, fabric, make_collectives, tree.files(), clock}; }
  [[nodiscard]] static GpuClusterOptions options() {
    GpuClusterOptions options;
    options.cluster.name = "here";
    options.nccl.sampling = sampling_options(0.002, 0.5);
    options.nccl.sampling.warm_up_s = 0;  // the fake clock stands still meanwhile
    options.nccl.sampling.stopping.max_samples = 8;
    options.nccl.max_bytes = 8192;
    options.nccl.pair_bytes = {8, 65536, 262144};
    options.facts = load_table<LinkFacts>(SEXTANT_SOURCE_DIR "/data/links.json");
    return options;
  }
  [[nodiscard]] GpuClusterProbe measure() {
    const auto world = make_serial_communicator();
    return assemble_gpu_cluster(measure_gpu_ranks(*world, tools(), options()), options());
  }

  FakeClock clock;
  FakeGpus gpus;
  FakeSensors sensors;
  FakeFabric fabric;
  PciTree tree;
  MakeCollectives make_collectives = no_nccl;
};

}  // namespace sextant
