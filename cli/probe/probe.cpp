// sextant probe: measures devices, memory and links.
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/command_line/checks.h"
#include "cli/probe/kept_probe.h"
#include "cli/probe/probe_devices.h"
#include "cli/probe/probe_emulated.h"
#include "cli/probe/probe_hosts.h"
#include "cli/probe/probe_output.h"
#include "cli/probe/probe_schedule.h"
#include "cli/probe/probe_tables.h"
#include "cli/shared/command.h"
#include "core/json_value.h"
#include "core/units.h"
#include "probes/host/gemm_shapes.h"
#include "sextant/error.h"
#include "sextant/model.h"

namespace sextant::cli {
namespace {

// The options for the probe on each host.
std::vector<std::string> options_of_one_host(const ProbeCommand& options) {
  std::vector<std::string> words = {"--devices",      options.devices,
                                    "--budget",       format_number(options.probe.budget_s_per_point),
                                    "--spread",       format_number(options.probe.target_spread_fraction),
                                    "--total-budget", format_number(options.total_budget_s)};
  if (options.probe.is_smoke_test) words.emplace_back("--smoke-test");
  if (!options.probe.pin) words.emplace_back("--no-pin");
  return words;
}

int run_on_hosts(const ProbeCommand& options, ProbeHostsOptions hosts) {
  if (!options.model.empty()) throw_bad_input("--model cannot be used with --hosts");
  hosts.files = options.files;
  hosts.name = options.probe.name;
  hosts.fleet.probe_devices = options.devices != "none";
  if (hosts.fleet.probe_devices) hosts.fleet.device_options = options_of_one_host(options);
  return probe_hosts(std::move(hosts));
}

void read_inputs(Communicator& ranks, ProbeCommand& options) {
  if (options.devices == "none") throw_bad_input("--devices none needs --hosts");
  if (!options.model.empty()) options.probe.model = load_document<Model>(options.model).content;
  if (options.probe.model) {  // complain before anything is measured
    static_cast<void>(
        gemm_shapes_of(*options.probe.model, options.probe.model_tokens, options.probe.model_tensor_parallel));
  }
  options.probe.hosts = read_places(ranks, options.places);
  options.probe.collectives_budget_s = options.total_budget_s;
}

// Several ranks have a journal next to their outputs.
void choose_journal(Communicator& ranks, ProbeFiles& files) {
  if (files.journal.empty() && (ranks.size() > 1 || files.resume)) {
    files.journal = files.journal_beside_outputs();
  }
  if (files.resume && files.journal.empty())
    throw_bad_input("--resume: give --journal, or the --out or --samples");
}

// The samples file has all measurements even if no cluster can be made of them.
Measured measure_or_keep(const Target& target, Communicator& ranks, ProbeCommand& options) {
  ClusterProbe seen;
  options.probe.on_results = [&](const std::vector<ProbeResult>& results) { seen.results = results; };
  try {
    return measure(target, ranks, options);
  } catch (const Error&) {
    if (!seen.results.empty() && !options.files.samples.empty()) {
      write_text_file(options.files.samples, format_json(samples_to_json(seen)));
    }
    throw;
  }
}

int run(ProbeCommand options) {
  if (options.files.json) keep_stdout_for_documents();
  Communicator& ranks = world();
  read_inputs(ranks, options);
  choose_journal(ranks, options.files);
  const Target target = find_target(ranks, options.devices);
  if (options.files.dry_run) {
    const std::string text = target.gpus ? describe_gpu_schedule(ranks, options.probe, options.total_budget_s,
                                                                 static_cast<int>(target.gpus->list().size()))
                                         : describe_schedule(ranks, options.probe);
    if (ranks.rank() == 0) std::fputs(text.c_str(), stdout);
    return kDone;
  }
  // The job is ended by who asks for this, on a thread that may not speak to other ranks.
  options.on_remains = [&](const ClusterProbe& probe) {
    static_cast<void>(write_outputs(options, {probe, cli::describe(probe.results)}, false));
  };
  const Measured measured = measure_or_keep(target, ranks, options);
  if (ranks.rank() != 0) return measured.probe.is_whole() ? kDone : kMachineFailed;
  return write_outputs(options, measured);
}

// Why these options make no sense together; empty when they do.
std::string what_is_ignored(const Command& command, const ProbeCommand& options,
                            const ProbeHostsOptions& hosts) {
  const auto is_in = [](const std::string& name, const std::set<std::string>& names) {
    return names.contains(name);
  };
  static const std::set<std::string> of_emulation = {"--emulate", "--out", "--json"};
  static const std::set<std::string> of_ranks_too = {"--hosts", "--journal", "--resume", "--dry-run"};
  static const std::set<std::string> of_ranks_alone = {"--places", "--answer-limit"};
  static const std::set<std::string> of_model = {"--tokens", "--tensor-parallel", "--precision"};
  for (const Option& option : command.given_options()) {
    const std::string name = option.name();
    if (!options.emulated.empty() && !is_in(name, of_emulation)) {
      return name + " cannot be used with --emulate, which measures nothing";
    }
    if (hosts.hosts.empty() && option.group() == kManyHosts && !is_in(name, of_ranks_too)) {
      return name + " needs --hosts";
    }
    if (!hosts.hosts.empty() && is_in(name, of_ranks_alone)) return name + " cannot be used with --hosts";
    if (options.model.empty() && is_in(name, of_model)) return name + " needs --model";
  }
  return "";
}

// Under a launcher all ranks were given the same words: one says what is wrong with them.
int refuse(const std::string& why) {
  if (world().rank() != 0) return kBadInput;
  throw_bad_input(why);
}

}  // namespace

void add_probe(CommandLine& line) {
  const auto options = std::make_shared<ProbeCommand>();
  const Command command =
      line.add_command("probe", "Measure GPUs or CPU cores, memory and links; each MPI rank is one core");
  command.add_output("--out", options->files.out, "Write the cluster document here");
  command.add_output("--samples", options->files.samples, "Write all results with all their samples here");
  command
      .add_option("--devices", options->devices,
                  "Devices to measure: gpu, cpu (one core per rank), auto (GPUs if every rank has one), none "
                  "(--hosts: links only)")
      .check(one_of({"auto", "cpu", "gpu", "none"}))
      .shows_default();
  command.add_option("--name", options->probe.name, "Name of the cluster").shows_default();
  command.add_option("--places", options->places,
                     "Location of the hosts of an MPI job: a hosts file, as for --hosts, with region= and "
                     "zone= for each name");
  command
      .add_option(
          "--answer-limit", options->probe.answer_limit_s,
          "Timeout in seconds for another rank while pairs are measured; a rank that exceeds it is left out")
      .check(positive_number())
      .shows_default();
  command.add_option("--model", options->model, "Model document whose GEMM shapes are measured in addition");
  command
      .add_option("--tokens", options->probe.model_tokens,
                  "Tokens per micro-batch for the GEMM shapes of --model")
      .check(positive_number())
      .shows_default();
  command
      .add_option("--tensor-parallel", options->probe.model_tensor_parallel,
                  "Tensor-parallel degree for the GEMM shapes of --model")
      .check(positive_number())
      .shows_default();
  command.add_choices("--precision", options->model_precisions,
                      {{"fp32", Precision::fp32},
                       {"tf32", Precision::tf32},
                       {"bf16", Precision::bf16},
                       {"fp16", Precision::fp16},
                       {"fp8", Precision::fp8}},
                      "Precisions for the GEMM shapes of --model on GPUs (default bf16)");
  command
      .add_option("--total-budget", options->total_budget_s,
                  "Time limit in seconds for each step: one GPU, its peer copies, NCCL between pairs, each "
                  "level of collectives")
      .check(positive_number())
      .shows_default();
  command.add_flag("--smoke-test", options->probe.is_smoke_test,
                   "Use the smallest sizes, only to check that everything runs; the numbers mean nothing");
  command.add_option("--budget", options->probe.budget_s_per_point, "Time limit in seconds for one measurement")
      .check(positive_number())
      .shows_default();
  command
      .add_option(
          "--spread", options->probe.target_spread_fraction,
          "Stop a measurement when half the 95 % interval of its median is below this fraction of the median")
      .check(number_between(0, 1))
      .shows_default();
  command.add_flag("!--no-pin", options->probe.pin, "Do not pin each rank to one CPU");
  command.add_flag("--json", options->files.json, "Print the cluster document instead of a table");
  command.footer("Example: mpirun -n 2 sextant probe --out cluster.json --samples samples.json");
  command
      .add_option(
          "--emulate", options->emulated,
          "Measure nothing; write a HetRL network: 1 single region, 2 hybrid, 3 countries, 4 continents")
      .check(one_of(emulated_names()));
  const auto hosts = std::make_shared<ProbeHostsOptions>();
  add_probe_hosts(command, *hosts, options->files);
  command.runs([command, options, hosts] {
    const std::string ignored = what_is_ignored(command, *options, *hosts);
    if (!ignored.empty()) return refuse(ignored);
    if (!options->emulated.empty())
      return probe_emulated(options->emulated, options->files.out, options->files.json);
    return hosts->hosts.empty() ? run(*options) : run_on_hosts(*options, *hosts);
  });
}

}  // namespace sextant::cli
