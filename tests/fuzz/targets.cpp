#include "tests/fuzz/targets.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "ask/runs/configured_run.h"
#include "ask/words/cluster_text.h"
#include "ask/words/lengths_text.h"
#include "calibrate/import/benchmarks/link_benchmark.h"
#include "calibrate/import/import.h"
#include "calibrate/import/records/facts.h"
#include "calibrate/import/records/python_literal.h"
#include "core/json_value.h"
#include "documents/hugging_face.h"
#include "probes/fleet/messages.h"
#include "probes/journal/probe_journal.h"
#include "probes/schedule/host_list.h"
#include "probes/trace/analysis/foreign_trace.h"
#include "probes/trace/record/chunk_reader.h"
#include "reports/import/importers.h"
#include "sextant/error.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;

// Counts a reader that accepts, and lets no other kind of error pass.
template <typename Read>
int accepts(const Read& read) {
  try {
    read();
    return 1;
  } catch (const Error& error) {
    SEXTANT_CHECK(error.kind() == ErrorKind::bad_input);
    return 0;
  }
}

// A folder of this process, removed at its end, for readers that take files.
class Scratch {
 public:
  Scratch() : folder_(fs::temp_directory_path() / ("sextant_fuzz_" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  [[nodiscard]] fs::path write(const std::string& name, std::string_view bytes) const {
    const fs::path file = folder_ / name;
    std::ofstream(file, std::ios::binary) << bytes;
    return file;
  }

 private:
  fs::path folder_;
};

const Scratch& scratch() {
  static const Scratch folder;
  return folder;
}

const fs::path& data() {
  static const fs::path folder = SEXTANT_SOURCE_DIR "/data";
  return folder;
}

const Facts& facts() {
  static const Facts all = Facts::load(data() / "gpus.json", data() / "models.json");
  return all;
}

int accepts_logs(std::string_view bytes) {
  const fs::path file = scratch().write("run.log", bytes);
  int accepted = 0;
  for (const ImportFormat& format : import_formats()) {
    std::size_t read = 0;
    (void)accepts([&] {
      const Imported imported = import_runs(format.name, {file}, facts());
      read += imported.runs.runs.size();
      for (const Run& run : imported.runs.runs)
        SEXTANT_CHECK(run.iteration.empty() || run.iteration.median_s() > 0);
    });
    (void)accepts([&] { read += import_times(format.name, {file}).size(); });
    accepted += read > 0 ? 1 : 0;
  }
  return accepted;
}

int accepts_configs(std::string_view bytes) {
  ::setenv("SEXTANT_DATA", data().c_str(), 1);
  int accepted = 0;
  for (const char* name : {"run.sh", "run.yaml", "run.toml"}) {
    const fs::path file = scratch().write(name, bytes);
    for (const Importer& importer : importer_table()) {
      accepted += accepts([&] {
        ConfigurationOptions options;
        options.from = importer.family;
        options.files = {file.string()};
        options.cluster.gpus = "H100";
        const ConfiguredRun run = read_configured_run(options, nullptr);
        SEXTANT_CHECK(!run.plan.tasks.empty() && run.cluster.device_count() >= 1);
      });
    }
  }
  return accepted;
}

int accepts_models(std::string_view bytes) {
  return accepts([&] {
    const Json config = parse_config(bytes);
    const Model model = model_from_config(JsonView(config), "fuzzed").model;
    SEXTANT_CHECK(model.parameters() > 0 && std::isfinite(model.parameters()));
  });
}

int accepts_benchmarks(std::string_view bytes) {
  int accepted = 0;
  for (const BenchmarkFormat& format : benchmark_formats())
    accepted += accepts([&] { (void)format.read(bytes, "output.txt"); });
  return accepted;
}

int accepts_traces(std::string_view bytes) {
  int accepted = accepts([&] { (void)trace::load_foreign_traces(scratch().write("trace.json", bytes)); });
  accepted += accepts([&] { (void)trace::load_foreign_traces(scratch().write("trace.sqlite", bytes)); });
  return accepted + (trace::read_chunks(bytes).is_whole() ? 1 : 0);
}

int accepts_hosts(std::string_view bytes) {
  return accepts([&] {
    for (const Host& host : parse_host_list(bytes, "hosts.txt")) SEXTANT_CHECK(!host.name.empty());
  });
}

int accepts_journals(std::string_view bytes) {
  int accepted = 0;
  for (const char* campaign : {kRanksJournal, kFleetJournal})
    accepted += accepts([&] { (void)parse_probe_journal(std::string(bytes), "probe.journal", campaign); });
  return accepted;
}

// A message between the coordinator of a fleet and its agents.
int accepts_messages(std::string_view bytes) {
  const auto as = [&](const auto& parse) {
    return accepts([&] {
      const Json message = parse_json(std::string(bytes));
      (void)parse(JsonView(message));
    });
  };
  return as(parse_start) + as(parse_devices) + as(parse_pair) + as(DeviceReport::parse) +
         as(PairMeasurement::parse) + as(Refusals::parse);
}

// The words of --gpus, --network and the lengths, and literals of Python.
int accepts_words(std::string_view bytes) {
  const std::string text(bytes);
  int accepted = accepts([&] {
    const Cluster cluster = cluster_from_text(text, {}, facts(), data()).cluster;
    SEXTANT_CHECK(cluster.device_count() >= 1);
  });
  accepted += accepts([&] { (void)cluster_from_text("2x8xH100", {text, ""}, facts(), data()); });
  accepted += accepts([&] {
    const Lengths lengths = lengths_from_text(text, "--response-tokens");
    SEXTANT_CHECK(lengths.mean_tokens() >= 0 && std::isfinite(lengths.mean_tokens()));
  });
  return accepted + (parse_python_literal(bytes) ? 1 : 0);
}

constexpr FuzzTarget kTargets[] = {
    {"documents", accepts_documents}, {"logs", accepts_logs, true},       {"configs", accepts_configs},
    {"models", accepts_models},       {"benchmarks", accepts_benchmarks}, {"traces", accepts_traces},
    {"hosts", accepts_hosts},         {"journals", accepts_journals},     {"messages", accepts_messages},
    {"words", accepts_words},
};

}  // namespace

std::span<const FuzzTarget> fuzz_targets() { return kTargets; }

const FuzzTarget* find_fuzz_target(std::string_view name) {
  const auto* found = std::find_if(std::begin(kTargets), std::end(kTargets),
                                   [&](const FuzzTarget& t) { return t.name == name; });
  return found == std::end(kTargets) ? nullptr : found;
}

}  // namespace sextant
