// sextant check: whether measured runs are as fast as they should be.
#include <memory>

#include "ask/check/check_question.h"
#include "ask/runs/log_runs.h"
#include "cli/ask/log_options.h"
#include "cli/shared/command.h"
#include "cli/shared/notes.h"
#include "cli/shared/table.h"
#include "core/units.h"

namespace sextant::cli {
namespace {

std::string describe_interval(const JudgedTime& time) {
  return time.interval_s ? format_seconds(time.interval_s->low) + " to " + format_seconds(time.interval_s->high)
                         : "";
}

std::string describe_verdict(const JudgedTime& time) {
  if (!time.interval_s) return "no interval";
  if (!time.is_outside()) return "as expected";
  return time.measured_s > time.interval_s->high ? "too slow" : "faster than expected";
}

std::string describe_all(const RunVerdict& verdict) {
  int outside = 0, slow = 0;
  for (const JudgedTime& time : verdict.times) {
    if (!time.is_outside()) continue;
    ++outside;
    slow += time.measured_s > time.interval_s->high ? 1 : 0;
  }
  if (outside == 0) return verdict.impossible.empty() ? "as expected" : "as expected, but impossible";
  const std::string too_slow = slow == outside ? "too slow"
                               : slow == 0     ? "none too slow"
                                               : std::to_string(slow) + " too slow";
  return std::to_string(outside) + " of " + std::to_string(verdict.times.size()) +
         " times are not as expected, " + too_slow;
}

void print(const Run& run, const RunVerdict& verdict) {
  print_line(run.name + ": " + describe_all(verdict));
  Table table({"time", "measured", "predicted", "90 %", "verdict"});
  table.align_left(4);
  for (const JudgedTime& time : verdict.times)
    table.add({time.what, format_seconds(time.measured_s), format_seconds(time.predicted_s),
               describe_interval(time), describe_verdict(time)});
  print_text(table.text());
  for (const LikelyCause& cause : verdict.causes) {
    std::string line = "would explain " + format_percent(cause.explained, 0) + " of it: " + cause.name + " (";
    for (std::size_t i = 0; i < cause.times.size(); ++i)
      line += (i > 0 ? ", " : "") + cause.times[i].what + " " + format_seconds(cause.times[i].predicted_s);
    const bool is_all = cause.left_outside == 0;
    print_line(
        line + ")" +
        (is_all ? ""
                : "; " + std::to_string(cause.left_outside) + " of the times would still not be as expected"));
  }
  for (const BeyondPeak& found : verdict.impossible) print_line("impossible: " + found.sentence());
  if (!verdict.is_normal() && verdict.causes.empty() && verdict.impossible.empty())
    print_line("no single change explains it; is the run what the document describes?");
  for (const Gain& gain : verdict.gains)
    print_line("would gain " + format_seconds(gain.seconds) + ": " + gain.name);
}

struct Options {
  CheckQuestion question;
  LogOptions logs;
};

int run(const Options& options) {
  const LogRuns read = read_runs(options.logs);
  say(read.notes);
  say(left_out_lines(read.imported));
  bool is_normal = true;
  check_runs(options.question, read.imported.runs, [&](const CheckedRun& checked) {
    say(checked.notes);
    print(checked.run, checked.verdict);
    is_normal = is_normal && checked.verdict.is_normal();
  });
  return is_normal ? kDone : kAnswerIsNo;
}

}  // namespace

void add_check(CommandLine& line) {
  const auto options = std::make_shared<Options>();
  const Command command = line.add_command("check", "Whether measured runs are as fast as they should be");
  command.add_option("files", options->logs.logs, "A runs document, or logs").required();
  command.add_option("--import", options->logs.format,
                     "Framework of the logs, if their metrics do not tell it: as for sextant import");
  add_log_options(command, options->logs, "run");
  command.add_option("--coefficients", options->question.coefficients,
                     "Coefficients document; default on GPUs: those fitted to public runs");
  command.add_option("--run", options->question.run, "Only the run with this name");
  command.footer(
      "Each time is compared with its prediction. Single changes are then tried that could explain a "
      "difference\n"
      "(slow links, a slow GPU, recomputation left on, a small KV cache, longer responses ...), and settings "
      "that\n"
      "would gain most. A log with its configuration, or with the command that started it, needs no document.\n"
      "Exits 1 if a time lies outside its 90 % interval, or is more work than the GPUs can do in it.\n"
      "Example: sextant check runs.json\n"
      "Example: sextant check train.log --config run.sh --gpus H100");
  command.runs([options] { return run(*options); });
}

}  // namespace sextant::cli
