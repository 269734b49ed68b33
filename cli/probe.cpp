// sextant probe: measures devices, memory and links.
#include <memory>

#include "cli/checks.h"
#include "cli/command.h"
#include "cli/table.h"
#include "core/units.h"
#include "costmodel/vocabulary/model.h"
#include "probes/cluster_probe.h"
#include "probes/cuda/gpu_probe.h"

namespace sextant::cli {
namespace {

struct Options {
  ProbeOptions probe;
  std::string model;
  std::string out;
  std::string samples;
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

// GPUs of the first rank's host. They are not devices of the cluster document yet: its ranks are cores.
std::string describe(const GpuProbe& gpus) {
  if (gpus.results.empty()) return "GPUs " + std::string(name_of(gpus.outcome)) + ": " + gpus.sentence + "\n";
  std::string text;
  for (std::size_t g = 0; g < gpus.devices.size(); ++g) {
    text += "GPU " + std::to_string(g) + ": " + gpus.devices[g].name + "\n";
  }
  return text + describe(gpus.results);
}

int run(Options options) {
  if (!options.model.empty()) options.probe.model = load_document<Model>(options.model).content;
  Communicator& ranks = world();
  const ClusterProbe probe = probe_cluster(ranks, options.probe);
  if (ranks.rank() != 0) return kDone;
  const GpuProbe gpus = probe_gpus({options.probe.budget_s_per_point, options.probe.target_spread_fraction});
  if (!options.out.empty()) save_document(options.out, probe.cluster);
  if (!options.samples.empty()) {
    Json samples = samples_to_json(probe);
    samples["gpus"] = {
        {"outcome", name_of(gpus.outcome)}, {"sentence", gpus.sentence}, {"results", to_json(gpus.results)}};
    write_text_file(options.samples, format_json(samples));
  }
  if (options.json) {
    print_document(probe.cluster);
  } else {
    std::fputs(describe(probe.results).c_str(), stdout);
    std::fputs(describe(gpus).c_str(), stdout);
  }
  for (const std::string& warning : probe.warnings) std::fprintf(stderr, "warning: %s\n", warning.c_str());
  if (!options.out.empty()) say_wrote(options.out);
  if (!options.samples.empty()) say_wrote(options.samples);
  return kDone;
}

}  // namespace

void add_probe(CLI::App& app, Action& action) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "probe", "Measure cores, memory and links (one rank is one device), and the GPUs of the first host");
  command->add_option("--out", options->out, "Write the cluster document here");
  command->add_option("--samples", options->samples, "Write every result with all its samples here");
  command->add_option("--name", options->probe.name, "Name of the cluster")->capture_default_str();
  command->add_option("--model", options->model, "Model document: measure the GEMM shapes it uses too");
  command->add_option("--tokens", options->probe.model_tokens, "Tokens of a micro-batch for those shapes")
      ->check(positive_number())
      ->capture_default_str();
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
