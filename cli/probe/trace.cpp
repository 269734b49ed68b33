// sextant trace: records what a program does on its GPUs and tells which task took how long, and why.
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "ask/coefficient_source.h"
#include "ask/data_files.h"
#include "cli/command_line/checks.h"
#include "cli/shared/command.h"
#include "cli/shared/notes.h"
#include "cli/shared/table.h"
#include "core/table_file.h"
#include "core/this_program.h"
#include "core/units.h"
#include "probes/trace/analysis/foreign_trace.h"
#include "probes/trace/analysis/summary.h"
#include "probes/trace/analysis/trace_events.h"
#include "probes/trace/analysis/trace_run.h"
#include "probes/trace/traced_command.h"
#include "sextant/error.h"
#include "sextant/statistics.h"

namespace sextant::cli {
namespace {

namespace fs = std::filesystem;
using namespace sextant::trace;

struct Options {
  std::vector<std::string> command;
  Settings settings;
  std::string read;
  std::string records;
  std::string library;
  std::string tasks;
  std::string kernels;
  std::string cluster;
  std::string workflow;
  std::string plan;
  std::string name;
  std::string framework = "traced";
  std::string out = "runs.json";
  bool append = false;
  std::string summary = "trace_summary.json";
  std::string events;
  std::size_t max_events = 200'000;
  double max_mib = 4096;
  int skip = 1;
  bool no_device = false;
  bool every_kernel = false;
  bool json = false;

  [[nodiscard]] bool makes_run() const { return !workflow.empty(); }
};

// A folder of our own for what is not kept.
class RecordFolder {
 public:
  explicit RecordFolder(const std::string& wanted) : is_ours_(wanted.empty()) {
    if (is_ours_) {
      std::string name = (fs::temp_directory_path() / "sextant-trace-XXXXXX").string();
      if (mkdtemp(name.data()) == nullptr) throw_machine_failed("cannot create a folder " + name);
      path_ = name;
      return;
    }
    std::error_code fault;
    fs::create_directories(wanted, fault);
    if (fault) throw_machine_failed(wanted + ": " + fault.message());
    path_ = fs::absolute(wanted);
    for (const auto& entry : fs::directory_iterator(path_)) {
      if (entry.path().extension() != kFileEnding) continue;
      throw_bad_input(wanted + " holds records of an earlier trace: choose another folder, or remove them");
    }
  }
  ~RecordFolder() {
    std::error_code ignored;
    if (is_ours_) fs::remove_all(path_, ignored);
  }
  RecordFolder(const RecordFolder&) = delete;
  RecordFolder& operator=(const RecordFolder&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  bool is_ours_;
};

std::string find_library(const std::string& given) {
  constexpr const char* kFile = "libsextant_trace.so";
  std::error_code fault;
  if (!given.empty()) {
    if (!fs::exists(given, fault)) throw_bad_input("--library " + given + ": there is no such file");
    return fs::absolute(given).string();
  }
  const fs::path folder = this_program().parent_path();
  for (const fs::path& place : {folder / kFile, folder / "../lib" / kFile, folder / "../lib64" / kFile,
                                folder / "../lib/x86_64-linux-gnu" / kFile}) {
    if (fs::exists(place, fault)) return fs::canonical(place).string();
  }
  throw_bad_input(std::string(kFile) +
                  " was not found next to the program or in its lib folder: give its path with --library");
}

void check(const Options& options) {
  if (options.command.empty() == options.read.empty()) {
    throw_bad_input("give either a command after --, or --read FOLDER with the records of an earlier trace");
  }
  if (options.workflow.empty() != options.plan.empty() || options.workflow.empty() != options.cluster.empty()) {
    throw_bad_input("a run needs all of --cluster, --workflow and --plan");
  }
  if (options.settings.every_s > 0 && options.settings.window_s <= 0) {
    throw_bad_input("--every needs --window, whose period it is");
  }
}

// The inputs are read before the program is started.
struct Loaded {
  TaskRanges tasks;
  KernelNames kernels;
  std::optional<TracedSetup> setup;
  Runs runs;
};

Loaded load(const Options& options) {
  const auto data = [](const std::string& given, const char* file) {
    return given.empty() ? data_folder() / "trace" / file : fs::path(given);
  };
  Loaded loaded;
  loaded.tasks = load_table<TaskRanges>(data(options.tasks, "task_ranges.json"));
  loaded.kernels = load_table<KernelNames>(data(options.kernels, "kernel_names.json"));
  if (!options.makes_run()) return loaded;
  TracedSetup setup;
  setup.framework = options.framework;
  setup.cluster = load_document<Cluster>(options.cluster).content;
  setup.workflow = load_document<Workflow>(options.workflow).content;
  setup.plan = load_document<Plan>(options.plan).content;
  setup.name = options.name.empty() ? setup.workflow.name + "/" + setup.plan.name : options.name;
  check_plan(setup.plan, setup.workflow, setup.cluster);
  say(fill_in_unstated(setup.plan, setup.workflow));
  loaded.setup = std::move(setup);
  if (options.append && fs::exists(options.out)) loaded.runs = load_document<Runs>(options.out).content;
  return loaded;
}

std::string describe(const TraceSummary& summary) {
  Table table(
      {"task", "time", "attention", "GEMM", "graphs", "other", "communication", "hidden", "copy", "idle"});
  for (const auto& [task, split] : summary.split.tasks) {
    const double recorded_s = split.recorded_s();
    const auto share = [recorded_s](double part_s) { return format_percent(part_s / recorded_s); };
    const auto times = summary.tasks_s.find(task);
    table.add({task, times == summary.tasks_s.end() ? "" : format_seconds(median(times->second)),
               share(split.attention_s), share(split.gemm_s), share(split.graph_s), share(split.other_s),
               share(split.exposed_communication_s), share(split.hidden_communication_s), share(split.copy_s),
               share(split.idle_s)});
  }
  for (const auto& [task, times_s] : summary.tasks_s) {
    if (!summary.split.tasks.contains(task)) table.add({task, format_seconds(median(times_s))});
  }
  std::string out = table.text();
  if (summary.iteration_s.empty()) {
    out += "no complete iteration was found\n";
  } else {
    out += "iteration " + format_seconds(median(summary.iteration_s)) + ", median of " +
           std::to_string(summary.iteration_s.size()) + " (" + summary.iterations_are + "), " +
           std::to_string(summary.skipped_iteration_s.size()) + " skipped before them\n";
  }
  out += std::to_string(summary.device_records) + " records of device activity and " +
         std::to_string(summary.range_count) + " ranges of " + std::to_string(summary.processes.size()) +
         " processes on " + std::to_string(summary.devices.size()) + " devices\n";
  for (const std::string& remark : summary.remarks()) out += remark + "\n";
  return out;
}

bool holds_records(const fs::path& folder) {
  std::error_code fault;
  for (const auto& entry : fs::directory_iterator(folder, fault)) {
    if (entry.path().extension() == kFileEnding) return true;
  }
  return false;
}

void report(const Options& options, Loaded& loaded, const fs::path& folder) {
  const bool is_foreign = !options.read.empty() && !holds_records(folder) && is_foreign_trace(folder);
  const Trace trace = is_foreign ? load_foreign_traces(folder) : load_traces(folder);
  const TraceSummary summary = summarise(trace, loaded.tasks, loaded.kernels, options.skip);
  save_document(options.summary, summary);
  if (!options.events.empty()) write_text_file(options.events, trace_events(trace, options.max_events));
  if (options.json) {
    print_document(summary);
  } else {
    std::fputs(describe(summary).c_str(), stdout);
  }
  say_wrote(options.summary);
  if (!options.events.empty()) say_wrote(options.events);
  if (!loaded.setup) return;
  add_traced_run(summary, *loaded.setup, loaded.runs);
  save_document(options.out, loaded.runs);
  say_wrote(options.out);
}

int run(Options options) {
  check(options);
  Loaded loaded = load(options);
  if (!options.read.empty()) {
    report(options, loaded, options.read);
    return kDone;
  }
  const std::string library = find_library(options.library);
  const RecordFolder folder(options.records);
  options.settings.folder = folder.path().string();
  options.settings.max_bytes = static_cast<std::uint64_t>(options.max_mib * (1 << 20));
  options.settings.device = !options.no_device;
  if (options.every_kernel) options.settings.max_slowdown = 0;
  const CommandEnd end = run_traced(options.command, tracing_environment(options.settings, library));
  if (end.signal != 0) {
    std::fprintf(stderr, "sextant: the command was ended by signal %d; what it recorded follows\n", end.signal);
  } else if (end.exit_code != 0) {
    std::fprintf(stderr, "sextant: the command exited with %d; what it recorded follows\n", end.exit_code);
  }
  report(options, loaded, folder.path());
  return end.exit_code == 0 ? kDone : kMachineFailed;
}

void add_bounds(const Command& command, Options& options) {
  command.add_option("--seconds", options.settings.max_seconds, "Seconds to record in each process")
      .check(positive_number());
  command.add_option("--steps", options.settings.max_steps, "Number of steps to record in each process")
      .check(positive_number());
  command.add_option("--step-range", options.settings.step_range,
                     "Name of the range that is one step (default: any outermost range that repeats)");
  command.add_option("--max-mib", options.max_mib, "Maximum size of the records in MiB, for each process")
      .check(positive_number())
      .shows_default();
  constexpr double kMaxSlowdown = 0.03;
  options.settings.max_slowdown = kMaxSlowdown;
  command
      .add_option("--max-slowdown", options.settings.max_slowdown,
                  "Maximum slowdown by recording, as a fraction; programs with many small kernels are recorded "
                  "in windows")
      .check(positive_number())
      .shows_default();
  command.add_flag("--every-kernel", options.every_kernel, "Record all device activity, whatever the slowdown");
  command
      .add_option("--window", options.settings.window_s,
                  "Seconds of device activity to record in each period of --every, whatever the slowdown; "
                  "ranges are always recorded")
      .check(positive_number());
  command.add_option("--every", options.settings.every_s, "Length of the period of --window in seconds")
      .check(positive_number());
  command
      .add_option("--flush", options.settings.flush_s,
                  "Maximum age in seconds of records that are not yet on disk, which a killed process loses")
      .check(positive_number())
      .shows_default();
}

void add_outputs(const Command& command, Options& options) {
  command.add_output("--summary", options.summary, "Summary document to write").shows_default();
  command.add_output("--events", options.events, "File of Chrome trace events to write, for Perfetto");
  command
      .add_option("--max-events", options.max_events,
                  "Maximum number of device activities in the --events file")
      .shows_default();
  command.add_option("--cluster", options.cluster,
                     "Cluster document; with --workflow and --plan the trace becomes a run");
  command.add_option("--workflow", options.workflow, "Workflow document of the program");
  command.add_option("--plan", options.plan, "Plan document of the program");
  command.add_output("--out", options.out, "Runs document to write").shows_default();
  command.add_flag("--append", options.append, "Add the run to an existing runs document");
  command.add_option("--name", options.name, "Name of the run (default: workflow/plan)");
  command.add_option("--framework", options.framework, "Framework that the run is recorded for")
      .shows_default();
  command.add_option("--skip", options.skip, "Warm-up iterations to skip at the start")
      .check(non_negative_number())
      .shows_default();
  command.add_flag("--json", options.json, "Print the summary document instead of a table");
}

}  // namespace

void add_trace(CommandLine& line) {
  const auto options = std::make_shared<Options>();
  const Command command = line.add_command(
      "trace", "Run a program, record its kernels and NVTX ranges, and break down the time of each task");
  command.add_option("command", options->command, "The program and its arguments, after --");
  command.add_option("--read", options->read,
                     "Run nothing; read an earlier trace: its folder, or PyTorch (*.json) or Nsight Systems "
                     "(*.sqlite) profiles");
  command.add_option("--records", options->records, "Keep the records in this folder");
  command.add_option("--tasks", options->tasks, "Task ranges document, which maps NVTX ranges to tasks");
  command.add_option("--kernels", options->kernels, "Kernel names document, which maps kernels to classes");
  add_outputs(command, *options);
  add_bounds(command, *options);
  command.add_flag("--graph-nodes", options->settings.graph_nodes,
                   "Record each kernel inside CUDA graphs: slower, but with the class of each");
  command.add_flag("--no-device", options->no_device,
                   "Record ranges and phases only, without CUPTI, so that programs with many small kernels are "
                   "not slowed down");
  command.add_option("--library", options->library, "Path of the tracer's library, libsextant_trace.so");
  command.add_option("--cupti", options->settings.cupti, "Path of the libcupti to use");
  command.footer(
      "Exits 3 if the command failed; what was recorded is still reported.\n"
      "Example: sextant trace --events trace.json -- python train.py");
  command.runs([options] { return run(*options); });
}

}  // namespace sextant::cli
