#include "cli/probe/probe_devices.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "ask/data_files.h"
#include "cli/probe/kept_probe.h"
#include "cli/probe/probe_schedule.h"
#include "cli/probe/probe_tables.h"
#include "core/progress.h"
#include "core/table_file.h"
#include "probes/gpu/gpu_cluster.h"
#include "probes/gpu/gpu_of_rank.h"
#include "probes/gpu/gpu_probe.h"
#include "probes/gpu/libraries/nccl_collectives.h"
#include "probes/ranks/cluster_probe.h"
#include "sextant/error.h"

namespace sextant::cli {
namespace {

// The budget of one measurement of a link: there are many.
constexpr double kLinkBudget_s = 0.1;
constexpr double kLinkSample_s = 1e-3;  // what starting and waiting for a batch add is below a hundredth
constexpr double kSmokeBytes = 1024.0 * 1024;

GpuClusterOptions gpu_options(const ProbeCommand& options, Progress* progress) {
  GpuClusterOptions wanted;
  wanted.cluster = options.probe;
  wanted.gpus.budget_s_per_point = options.probe.budget_s_per_point;
  wanted.gpus.target_spread_fraction = options.probe.target_spread_fraction;
  wanted.gpus.total_budget_s = options.total_budget_s;
  wanted.gpus.points = {options.probe.model, options.probe.model_tokens, options.probe.model_tensor_parallel,
                        options.model_precisions, options.probe.is_smoke_test};
  if (progress != nullptr) wanted.gpus.on_point = [progress](const std::string& name) { progress->step(name); };
  wanted.nccl.sampling = sampling_options(std::min(options.probe.budget_s_per_point, kLinkBudget_s),
                                          options.probe.target_spread_fraction);
  wanted.nccl.sampling.min_sample_s = kLinkSample_s;
  wanted.nccl.total_budget_s = options.total_budget_s;
  wanted.nccl.on_point = wanted.gpus.on_point;
  if (options.probe.is_smoke_test) {
    wanted.nccl.max_bytes = kSmokeBytes;
    wanted.nccl.pair_bytes = {8, 65536, 1 << 20};
  }
  // Without the table nothing is expected.
  if (const auto data = find_data_folder()) wanted.facts = load_table<LinkFacts>(*data / "links.json");
  return wanted;
}

// Null: one process without a journal keeps nothing.
std::unique_ptr<KeptProbe> keep_gpus(Communicator& ranks, const GpuDevices& devices,
                                     const ProbeCommand& options) {
  if (ranks.size() == 1 && options.files.journal.empty()) return nullptr;
  // Budgets of a GPU, of the copies between a host's GPUs, and of a level of collectives, with a margin.
  constexpr double kBudgets = 4, kMore_s = 120;
  const double budgets = kBudgets + static_cast<double>(devices.list().size());
  return std::make_unique<KeptProbe>(ranks, options, "GPUs", budgets * options.total_budget_s + kMore_s);
}

// `no_gpus`: why GPUs are not measured; empty when nobody asked for them.
Measured measure_cores(Communicator& ranks, const ProbeCommand& options, const std::string& no_gpus) {
  const KeptProbe kept(ranks, options, "cores", longest_silence_s(options.probe));
  ClusterProbe probe = probe_cluster(ranks, options.probe, kept.done(), kept.hooks());
  std::string text = cli::describe(probe.results);
  if (!no_gpus.empty()) text += "GPUs waived: " + no_gpus + "\n";
  return {std::move(probe), std::move(text), Json::object()};
}

// Why this rank or another cannot measure a GPU; empty when all can. Collective.
std::string why_no_gpus(Communicator& ranks, const GpuDevices& devices) {
  return ranks.size() == 1 ? devices.absence() : share_out_gpus(ranks, devices).why_not_whole();
}

}  // namespace

Target find_target(Communicator& ranks, const std::string& wanted, const MakeGpuDevices& make_devices) {
  if (wanted == "cpu") return {};
  Target target{make_devices(), ""};
  if (wanted == "gpu") {  // complains of what is missing
    if (ranks.size() == 1 && !target.gpus->absence().empty()) throw_machine_failed(target.gpus->absence());
    return target;
  }
  target.no_gpus = why_no_gpus(ranks, *target.gpus);
  if (!target.no_gpus.empty()) target.gpus.reset();
  return target;
}

Measured measure_gpus(const GpuTools& tools, Communicator& ranks, const ProbeCommand& options) {
  const std::unique_ptr<KeptProbe> kept = keep_gpus(ranks, tools.devices, options);
  std::optional<Progress> progress;
  if (ranks.rank() == 0) progress.emplace("probing GPUs", 0);
  GpuClusterOptions wanted = gpu_options(options, progress ? &*progress : nullptr);
  if (kept) {
    wanted.done = kept->done();
    wanted.hooks = kept->hooks();
  }
  GpuRanks job = measure_gpu_ranks(ranks, tools, wanted);
  if (ranks.rank() == 0 && options.probe.on_results) options.probe.on_results(job.found.results());
  const std::string seen = cli::describe(job.gpus);
  try {
    GpuClusterProbe assembled = assemble_gpu_cluster(std::move(job), wanted);
    std::string text = cli::describe(assembled.gpus) + cli::describe(assembled.links);
    return {std::move(assembled.probe), std::move(text), {{"links", assembled.links.to_json()}}};
  } catch (const Error&) {  // too little for a cluster: what there is must not be lost
    if (ranks.rank() == 0) std::fputs(seen.c_str(), stdout);
    throw;
  }
}

Measured measure(const Target& target, Communicator& ranks, const ProbeCommand& options) {
  if (!target.gpus) return measure_cores(ranks, options, target.no_gpus);
  const auto sensors = make_nvml_sensors();
  const auto fabric = make_nvml_fabric();
  return measure_gpus({*target.gpus, *sensors, *fabric, make_nccl_collectives, SystemFiles(), steady_clock()},
                      ranks, options);
}

}  // namespace sextant::cli
