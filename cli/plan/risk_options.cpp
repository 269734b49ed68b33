#include "cli/plan/risk_options.h"

#include "cli/command_line/checks.h"

namespace sextant::cli {

void add_run_options(const Command& command, RunOptions& options) {
  constexpr double kLongest_s = 1e6;
  command
      .add_option("--length-schedule", options.parts,
                  "Plan a run in parts ITERATIONS:LENGTH_FACTOR; 100:0.5,300:1: 100 iterations at half length, "
                  "then 300 at full length")
      .parted_by_commas();
  command
      .add_option("--change-seconds", options.change_s,
                  "With --length-schedule: seconds that a change of plans takes (checkpoint and restart)")
      .check(number_between(0, kLongest_s))
      .shows_default();
}

void add_risk_options(const Command& command, RiskOptions& options) {
  constexpr double kLargest = 2;
  constexpr int kMinDraws = 8, kMaxDraws = 10'000;
  command
      .add_option("--length-drift", options.spread.response_lengths,
                  "For --goal mean and p50 to p99: standard deviation of the log of a common factor on all "
                  "response lengths")
      .check(number_between(0, kLargest))
      .shows_default();
  command
      .add_option("--link-jitter", options.spread.far_links,
                  "For --goal mean and p50 to p99: the same for the rates of links between zones or regions")
      .check(number_between(0, kLargest))
      .shows_default();
  command
      .add_option("--risk-draws", options.draws,
                  "For --goal mean and p50 to p99: number of samples that plans are evaluated on")
      .check(integer_between(kMinDraws, kMaxDraws))
      .shows_default();
}

}  // namespace sextant::cli
