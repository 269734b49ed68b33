#include "cli/probe/probe_output.h"

#include <cstdio>
#include <filesystem>

#include "cli/probe/verdict_line.h"
#include "cli/shared/command.h"
#include "core/json_value.h"
#include "probes/comm/communicator.h"

namespace sextant::cli {

int finish_probe(const ProbeFiles& files, bool is_whole, bool is_interrupted) {
  if (is_whole) {
    if (!files.journal.empty()) std::filesystem::remove(files.journal);
    return kDone;
  }
  std::fprintf(stderr, "%s", is_interrupted ? "interrupted" : "some measurements are missing");
  if (!files.journal.empty()) {
    std::fprintf(stderr, "; finished measurements are in %s, and --resume measures the rest",
                 files.journal.c_str());
  }
  std::fputs("\n", stderr);
  return kMachineFailed;
}

int write_outputs(const ProbeCommand& command, const Measured& measured, bool may_end_job) {
  const ProbeFiles& files = command.files;
  const ClusterProbe& probe = measured.probe;
  const bool has_cluster = probe.why_no_cluster.empty();
  if (!files.out.empty() && has_cluster) save_document(files.out, probe.cluster);
  if (!files.samples.empty()) {
    Json samples = samples_to_json(probe);
    samples.update(measured.more_samples);
    write_text_file(files.samples, format_json(samples));
  }
  if (files.json && has_cluster) {
    print_document(probe.cluster);
  } else {
    std::fputs(measured.text.c_str(), stdout);
  }
  for (const std::string& warning : probe.warnings) std::fprintf(stderr, "warning: %s\n", warning.c_str());
  if (!files.out.empty() && has_cluster) say_wrote(files.out);
  if (!files.samples.empty()) say_wrote(files.samples);
  if (has_cluster && !files.json && !command.probe.is_smoke_test) print_verdict(probe.cluster);
  if (!has_cluster) std::fprintf(stderr, "warning: no cluster document: %s\n", probe.why_no_cluster.c_str());
  const int exit_code = finish_probe(files, probe.is_whole(), probe.is_interrupted);
  std::fflush(stdout);
  // Ranks that are silent do not come to the end of the job, and the others would wait for them.
  if (!probe.lost.empty() && may_end_job) abort_all_ranks(kMachineFailed);
  return exit_code;
}

}  // namespace sextant::cli
