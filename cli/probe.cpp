// sextant probe: measures devices, memory and links.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/checks.h"
#include "cli/command.h"
#include "cli/data_files.h"
#include "cli/probe_emulated.h"
#include "cli/probe_hosts.h"
#include "cli/table.h"
#include "core/error.h"
#include "core/json_value.h"
#include "core/progress.h"
#include "core/table_file.h"
#include "core/units.h"
#include "costmodel/vocabulary/model.h"
#include "probes/cluster_probe.h"
#include "probes/cuda/gpu_cluster.h"
#include "probes/cuda/gpu_of_rank.h"
#include "probes/cuda/gpu_probe.h"
#include "probes/cuda/nccl_collectives.h"
#include "probes/host/gemm_shapes.h"

namespace sextant::cli {
namespace {

// Of a point of a link: there are many.
constexpr double kLinkBudget_s = 0.1;
constexpr double kLinkSample_s = 1e-3;  // what starting and waiting for a batch add is below a hundredth
constexpr double kSmokeBytes = 1024.0 * 1024;

struct Options {
  ProbeOptions probe;
  std::string model;
  std::string out;
  std::string samples;
  std::string devices = "auto";
  double total_budget_s = 50;
  bool is_smoke_test = false;
  bool json = false;
  std::string emulated;  // a name of emulated_names(): nothing is measured
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

constexpr const char* kBusBandwidth = "/bus_bandwidth";
constexpr const char* kAlgorithmBandwidth = "/algorithm_bandwidth";

const ProbeResult* find(const std::vector<ProbeResult>& results, const std::string& name) {
  for (const ProbeResult& result : results) {
    if (result.name == name && result.peer < 0) return &result;
  }
  return nullptr;
}

bool is_of_collective(const ProbeResult& result) { return result.name.starts_with("nccl/") && result.peer < 0; }

// As nccl-tests prints them.
std::string describe_collectives(const std::vector<ProbeResult>& results) {
  Table table({"collective", "time", "algorithm bandwidth", "bus bandwidth", "spread", "outcome", "why"});
  bool has_any = false;
  for (const ProbeResult& result : results) {
    if (!is_of_collective(result) || result.unit != "s") continue;
    has_any = true;
    const ProbeResult* algorithm = find(results, result.name + kAlgorithmBandwidth);
    const ProbeResult* bus = find(results, result.name + kBusBandwidth);
    table.add({result.name, shown_value(result), algorithm == nullptr ? "-" : shown_value(*algorithm),
               bus == nullptr ? "-" : shown_value(*bus),
               result.has_value() ? format_percent(result.spread_fraction) : "",
               std::string(name_of(result.outcome)), result.sentence});
  }
  return has_any ? table.text() : "";
}

std::string describe(const LinkReport& links) {
  if (links.classes.empty()) return "";
  Table table({"link", "by", "pairs", "latency", "90 %", "bandwidth", "90 %", "expected", "from"});
  for (const LinkClassReport& link : links.classes) {
    table.add({link.link.sentence(), link.way, std::to_string(link.pairs), format_seconds(link.fit.latency_s),
               format_percent(link.fit.latency_spread_fraction), format_bytes_per_s(link.fit.bytes_per_s),
               format_percent(link.fit.bytes_per_s_spread_fraction),
               link.expected ? format_bytes_per_s(link.expected->bytes_per_s) : "-",
               link.expected ? link.expected->formula : ""});
  }
  return table.text();
}

std::string describe(const GpuProbe& gpus) {
  std::string text;
  for (const GpuFacts& gpu : gpus.devices) {
    text += "GPU " + std::to_string(gpu.index) + ": " + gpu.name + ", " + format_bytes(gpu.memory_bytes) +
            " (" + gpus.versions + ")\n";
  }
  std::vector<ProbeResult> others;
  for (const ProbeResult& result : gpus.results) {
    if (!is_of_collective(result)) others.push_back(result);
  }
  return text + describe(others) + describe_collectives(gpus.results) + gpus.sentence + "\n";
}

GpuClusterOptions gpu_options(const Options& options, Progress* progress) {
  GpuClusterOptions wanted;
  wanted.cluster = options.probe;
  wanted.gpus.budget_s_per_point = options.probe.budget_s_per_point;
  wanted.gpus.target_spread_fraction = options.probe.target_spread_fraction;
  wanted.gpus.total_budget_s = options.total_budget_s;
  wanted.gpus.points = {options.probe.model, options.probe.model_tokens, options.probe.model_tensor_parallel,
                        options.is_smoke_test};
  if (progress != nullptr) wanted.gpus.on_point = [progress](const std::string& name) { progress->step(name); };
  wanted.nccl.sampling = sampling_options(std::min(options.probe.budget_s_per_point, kLinkBudget_s),
                                          options.probe.target_spread_fraction);
  wanted.nccl.sampling.least_sample_s = kLinkSample_s;
  wanted.nccl.total_budget_s = options.total_budget_s;
  wanted.nccl.on_point = wanted.gpus.on_point;
  if (options.is_smoke_test) {
    wanted.nccl.most_bytes = kSmokeBytes;
    wanted.nccl.pair_bytes = {8, 65536, 1 << 20};
  }
  // Without the table nothing is expected.
  if (const auto data = find_data_folder()) wanted.facts = load_table<LinkFacts>(*data / "links.json");
  return wanted;
}

// What was measured, and the text for people about it.
struct Measured {
  ClusterProbe probe;
  std::string text;
  Json more_samples = Json::object();  // members of the file of samples
};

std::vector<ProbeResult> results_of(const std::vector<RankReport>& reports) {
  std::vector<ProbeResult> results;
  for (const RankReport& report : reports) {
    results.insert(results.end(), report.results.begin(), report.results.end());
  }
  return results;
}

Measured measure_gpus(GpuDevices& devices, Communicator& ranks, const Options& options) {
  std::optional<Progress> progress;
  if (ranks.rank() == 0) progress.emplace("probing GPUs", 0);
  const GpuClusterOptions wanted = gpu_options(options, progress ? &*progress : nullptr);
  const auto sensors = make_nvml_sensors();
  const auto fabric = make_nvml_fabric();
  GpuRanks found = measure_gpu_ranks(
      ranks, {devices, *sensors, *fabric, make_nccl_collectives, SystemFiles(), steady_clock()}, wanted);
  if (ranks.rank() == 0 && options.probe.on_results) options.probe.on_results(results_of(found.reports));
  const std::string seen = describe(found.gpus);
  try {
    GpuClusterProbe assembled = assemble_gpu_cluster(std::move(found), wanted);
    std::string text = describe(assembled.gpus) + describe(assembled.links);
    return {std::move(assembled.probe), std::move(text), {{"links", assembled.links.to_json()}}};
  } catch (const Error&) {  // too little for a cluster: what there is must not be lost
    if (ranks.rank() == 0) std::fputs(seen.c_str(), stdout);
    throw;
  }
}

// `no_gpus`: why GPUs are not measured; empty when nobody asked for them.
Measured measure_cores(Communicator& ranks, const Options& options, const std::string& no_gpus) {
  ClusterProbe probe = probe_cluster(ranks, options.probe);
  std::string text = describe(probe.results);
  if (!no_gpus.empty()) text += "GPUs waived: " + no_gpus + "\n";
  return {std::move(probe), std::move(text), Json::object()};
}

// Why this rank or another cannot measure a GPU; empty when all can. Collective.
std::string why_no_gpus(Communicator& ranks, const GpuDevices& devices) {
  return ranks.size() == 1 ? devices.absence() : share_out_gpus(ranks, devices).why_not_whole();
}

Measured measure(Communicator& ranks, const Options& options) {
  if (options.devices == "cpu") return measure_cores(ranks, options, "");
  const auto devices = make_gpu_devices();
  if (options.devices == "gpu") {  // complains of what is missing
    if (ranks.size() == 1 && !devices->absence().empty()) throw_machine_failed(devices->absence());
    return measure_gpus(*devices, ranks, options);
  }
  const std::string why_not = why_no_gpus(ranks, *devices);
  return why_not.empty() ? measure_gpus(*devices, ranks, options) : measure_cores(ranks, options, why_not);
}

// What each host's own probe is told.
std::vector<std::string> options_of_one_host(const Options& options) {
  std::vector<std::string> words = {"--devices",      options.devices,
                                    "--budget",       format_number(options.probe.budget_s_per_point),
                                    "--spread",       format_number(options.probe.target_spread_fraction),
                                    "--total-budget", format_number(options.total_budget_s)};
  if (options.is_smoke_test) words.emplace_back("--smoke-test");
  if (!options.probe.pin) words.emplace_back("--no-pin");
  return words;
}

int run_on_hosts(const Options& options, ProbeHostsOptions hosts) {
  if (!options.model.empty()) throw_bad_input("--model is for a probe of one host");
  hosts.out = options.out;
  hosts.samples = options.samples;
  hosts.name = options.probe.name;
  hosts.json = options.json;
  hosts.fleet.probe_devices = options.devices != "none";
  if (hosts.fleet.probe_devices) hosts.fleet.device_options = options_of_one_host(options);
  return probe_hosts(std::move(hosts));
}

int run(Options options) {
  if (options.devices == "none") throw_bad_input("--devices none is for --hosts");
  if (options.json) keep_stdout_for_documents();
  if (!options.model.empty()) options.probe.model = load_document<Model>(options.model).content;
  if (options.probe.model) {  // complain before anything is measured
    static_cast<void>(
        gemm_shapes_of(*options.probe.model, options.probe.model_tokens, options.probe.model_tensor_parallel));
  }
  if (!options.samples.empty()) {  // written again, with more, where a cluster could be made of them
    options.probe.on_results = [path = options.samples](const std::vector<ProbeResult>& results) {
      write_text_file(path, format_json({{"results", to_json(results)}, {"warnings", Json::array()}}));
    };
  }
  Communicator& ranks = world();
  const Measured measured = measure(ranks, options);
  if (ranks.rank() != 0) return kDone;
  const ClusterProbe& probe = measured.probe;
  if (!options.out.empty()) save_document(options.out, probe.cluster);
  if (!options.samples.empty()) {
    Json samples = samples_to_json(probe);
    samples.update(measured.more_samples);
    write_text_file(options.samples, format_json(samples));
  }
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
      ->add_option("--devices", options->devices,
                   "What to measure: gpu (all of this host, or with mpirun and srun one for each rank), cpu (a "
                   "core for each rank), or auto: GPUs where every rank has one, else cores; none: with "
                   "--hosts, links alone")
      ->check(CLI::IsMember({"auto", "cpu", "gpu", "none"}))
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
      ->add_option("--total-budget", options->total_budget_s,
                   "Most seconds for one GPU, all points together; as many for its peer copies, for NCCL "
                   "between all pairs, and "
                   "for NCCL's collectives")
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
  command
      ->add_option(
          "--emulate", options->emulated,
          "Measure nothing: the cluster document of one of HetRL's networks (1 single region, 2 hybrid, 3 "
          "countries, 4 continents) from the paper's numbers")
      ->check(CLI::IsMember(emulated_names()));
  const auto hosts = std::make_shared<ProbeHostsOptions>();
  add_probe_hosts(*command, hosts);
  command->callback([options, hosts, &action] {
    action = [options, hosts] {
      if (!options->emulated.empty()) return probe_emulated(options->emulated, options->out, options->json);
      return hosts->hosts.empty() ? run(*options) : run_on_hosts(*options, *hosts);
    };
  });
}

}  // namespace sextant::cli
