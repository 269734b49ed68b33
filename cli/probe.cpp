// sextant probe: measures devices, memory and links.
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/checks.h"
#include "cli/command.h"
#include "cli/table.h"
#include "core/error.h"
#include "core/json_value.h"
#include "core/progress.h"
#include "core/units.h"
#include "costmodel/vocabulary/model.h"
#include "probes/cluster_probe.h"
#include "probes/cuda/gpu_cluster.h"
#include "probes/cuda/gpu_probe.h"
#include "probes/harness/environment.h"
#include "probes/host/gemm_shapes.h"

namespace sextant::cli {
namespace {

struct Options {
  ProbeOptions probe;
  std::string model;
  std::string out;
  std::string samples;
  std::string devices = "auto";
  double total_budget_s = 50;
  bool is_smoke_test = false;
  bool json = false;
};

std::string shown_value(const ProbeResult& result) {
  if (!result.has_value()) return "-";
  if (result.unit == "flop/s") return format_flop_per_s(result.value);
  if (result.unit == "bytes/s") return format_bytes_per_s(result.value);
  if (result.unit == "bytes") return format_bytes(result.value);
  return format_seconds(result.value);
}

std::string describe(const std::vector<ProbeResult>& results) {
  Table table({"probe", "rank", "value", "spread", "outcome", "why"});
  for (const ProbeResult& result : results) {
    const std::string rank = result.peer < 0 ? std::to_string(result.rank)
                                             : std::to_string(result.rank) + "-" + std::to_string(result.peer);
    table.add({result.name, rank, shown_value(result),
               result.has_value() ? format_percent(result.spread_fraction) : "",
               std::string(name_of(result.outcome)), result.sentence});
  }
  return table.text();
}

std::string describe(const GpuProbe& gpus) {
  std::string text;
  for (const GpuFacts& gpu : gpus.devices) {
    text += "GPU " + std::to_string(gpu.index) + ": " + gpu.name + ", " + format_bytes(gpu.memory_bytes) +
            " (" + gpus.versions + ")\n";
  }
  return text + describe(gpus.results) + gpus.sentence + "\n";
}

GpuProbe probe_these(GpuDevices& devices, const Options& options) {
  Progress progress("probing GPUs", 0);
  GpuProbeOptions wanted;
  wanted.budget_s_per_point = options.probe.budget_s_per_point;
  wanted.target_spread_fraction = options.probe.target_spread_fraction;
  wanted.total_budget_s = options.total_budget_s;
  wanted.points = {options.probe.model, options.probe.model_tokens, options.probe.model_tensor_parallel,
                   options.is_smoke_test};
  wanted.on_point = [&](const std::string& name) { progress.step(name); };
  return probe_gpus(devices, *make_nvml_sensors(), wanted);
}

// What was measured, and the text for people about it.
struct Measured {
  ClusterProbe probe;
  std::string text;
};

Measured measure_gpus(GpuDevices& devices, Communicator& ranks, const Options& options) {
  const GpuProbe gpus = probe_these(devices, options);
  const double host_memory_bytes = read_environment(SystemFiles()).memory_available_bytes;
  try {
    return {cluster_of_gpus(gpus, ranks.hosts().front(), host_memory_bytes, options.probe), describe(gpus)};
  } catch (const Error&) {  // too little for a cluster: what there is must not be lost
    std::fputs(describe(gpus).c_str(), stdout);
    if (!options.samples.empty()) {
      write_text_file(options.samples,
                      format_json({{"results", to_json(gpus.results)}, {"warnings", warnings_of(gpus)}}));
    }
    throw;
  }
}

// `no_gpus`: why GPUs are not measured; empty when nobody asked for them.
Measured measure_cores(Communicator& ranks, const Options& options, const std::string& no_gpus) {
  ClusterProbe probe = probe_cluster(ranks, options.probe);
  std::string text = describe(probe.results);
  if (!no_gpus.empty()) text += "GPUs waived: " + no_gpus + "\n";
  return {std::move(probe), std::move(text)};
}

Measured measure(Communicator& ranks, const Options& options) {
  if (options.devices == "cpu") return measure_cores(ranks, options, "");
  const bool must = options.devices == "gpu";
  if (ranks.size() > 1) {
    const std::string reason = "one process probes all GPUs of its host, and this job has several";
    if (must) throw_bad_input(reason + ": start sextant probe --devices gpu without mpirun");
    return measure_cores(ranks, options, reason);
  }
  const auto devices = make_gpu_devices();
  const std::string absence = devices->absence();
  if (absence.empty()) return measure_gpus(*devices, ranks, options);
  if (must) throw_machine_failed(absence);
  return measure_cores(ranks, options, absence);
}

int run(Options options) {
  if (!options.model.empty()) options.probe.model = load_document<Model>(options.model).content;
  if (options.probe.model) {  // complain before anything is measured
    static_cast<void>(
        gemm_shapes_of(*options.probe.model, options.probe.model_tokens, options.probe.model_tensor_parallel));
  }
  Communicator& ranks = world();
  const Measured measured = measure(ranks, options);
  if (ranks.rank() != 0) return kDone;
  const ClusterProbe& probe = measured.probe;
  if (!options.out.empty()) save_document(options.out, probe.cluster);
  if (!options.samples.empty()) write_text_file(options.samples, format_json(samples_to_json(probe)));
  if (options.json) {
    print_document(probe.cluster);
  } else {
    std::fputs(measured.text.c_str(), stdout);
  }
  for (const std::string& warning : probe.warnings) std::fprintf(stderr, "warning: %s\n", warning.c_str());
  if (!options.out.empty()) say_wrote(options.out);
  if (!options.samples.empty()) say_wrote(options.samples);
  return kDone;
}

}  // namespace

void add_probe(CLI::App& app, Action& action) {
  const auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("probe", "Measure GPUs, or cores, memory and links (one rank is one core)");
  command->add_option("--out", options->out, "Write the cluster document here");
  command->add_option("--samples", options->samples, "Write every result with all its samples here");
  command
      ->add_option(
          "--devices", options->devices,
          "What to measure: gpu (all of this host), cpu (a core for each rank), or auto: GPUs where there are "
          "any and there is one rank")
      ->check(CLI::IsMember({"auto", "cpu", "gpu"}))
      ->capture_default_str();
  command->add_option("--name", options->probe.name, "Name of the cluster")->capture_default_str();
  command->add_option("--model", options->model, "Model document: measure the GEMM shapes it uses too");
  command->add_option("--tokens", options->probe.model_tokens, "Tokens of a micro-batch for those shapes")
      ->check(positive_number())
      ->capture_default_str();
  command
      ->add_option("--tensor-parallel", options->probe.model_tensor_parallel,
                   "Devices that share those products")
      ->check(positive_number())
      ->capture_default_str();
  command
      ->add_option("--total-budget", options->total_budget_s, "Most seconds for one GPU, all points together")
      ->check(positive_number())
      ->capture_default_str();
  command->add_flag(
      "--smoke-test", options->is_smoke_test,
      "GPUs: the smallest sizes, to see that everything runs (under compute-sanitizer), not to measure");
  command->add_option("--budget", options->probe.budget_s_per_point, "Most seconds for one point")
      ->check(positive_number())
      ->capture_default_str();
  command
      ->add_option("--spread", options->probe.target_spread_fraction,
                   "Stop when half the 95 % interval of the median is below this share of it")
      ->check(number_between(0, 1))
      ->capture_default_str();
  command->add_flag("!--no-pin", options->probe.pin, "Do not pin each rank to one CPU");
  command->add_flag("--json", options->json, "Print the cluster document instead of a table");
  command->footer("Example: mpirun -n 2 sextant probe --out cluster.json --samples samples.json");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace sextant::cli
