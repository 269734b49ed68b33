#include "cli/fit/import_benchmark.h"

#include "ask/benchmarks/benchmarked_cluster.h"
#include "ask/data_files.h"
#include "cli/shared/command.h"
#include "cli/shared/notes.h"
#include "sextant/document.h"
#include "sextant/error.h"

namespace sextant::cli {
namespace {

struct ReadBenchmark {
  LinkBenchmark link;
  std::string file;
};

std::vector<ReadBenchmark> read_all(const BenchmarkOptions& options) {
  const BenchmarkFormat& format = *find_benchmark_format(options.format);
  std::vector<ReadBenchmark> all;
  for (const std::string& file : options.files) {
    LinkBenchmarks read;
    try {
      read = format.read(read_text_file(file), file);
    } catch (const Error& error) {
      const std::string what = error.what();
      throw Error(error.kind(), what.find(file) == std::string::npos ? file + ": " + what : what);
    }
    for (LinkBenchmark& link : read.links) all.push_back({std::move(link), file});
    for (const LeftOut& record : read.left_out)
      std::fprintf(stderr, "left out %s: %s\n", record.record.c_str(), record.reason.c_str());
  }
  return all;
}

Cluster base_cluster(const BenchmarkOptions& options, const LinkBenchmark& first) {
  if (!options.cluster_document.empty()) return load_document<Cluster>(options.cluster_document).content;
  ClusterOptions cluster = options.cluster;
  if (cluster.gpus.empty()) {
    const std::filesystem::path data = data_folder();
    cluster.gpus = cluster_words_of(first, Facts::load(data / "gpus.json", data / "models.json"));
  }
  std::vector<std::string> notes;
  Cluster made = cluster_of(cluster, notes);
  say(notes);
  return made;
}

}  // namespace

int import_benchmarks(const BenchmarkOptions& options) {
  if (options.files.empty()) throw_bad_input("give the output of " + options.format + " after its name");
  const std::vector<ReadBenchmark> benchmarks = read_all(options);
  if (benchmarks.empty()) {
    std::fprintf(stderr, "sextant: no benchmark is left: nothing written\n");
    return kAnswerIsNo;
  }
  BenchmarkedCluster made{base_cluster(options, benchmarks.front().link), {}};
  for (const ReadBenchmark& benchmark : benchmarks) {
    made = with_benchmark(made.cluster, benchmark.link, outer_level(options.level),
                          std::filesystem::path(benchmark.file).filename().string());
    for (const std::string& verdict : made.verdicts) print_line(verdict);
  }
  if (options.json) print_document(made.cluster);
  save_document(options.out, made.cluster);
  say_wrote(options.out);
  return kDone;
}

}  // namespace sextant::cli
