// Measured runs side by side: medians of their samples, and how surely they differ.
//
// The chance that a change is none is that of a permutation test: how often the means (of logarithms) of samples dealt
// at random are as far apart as the measured ones.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>

#include "cli/compare/comparison.h"
#include "core/units.h"
#include "sextant/error.h"
#include "sextant/run.h"

namespace sextant::cli {
namespace {

constexpr std::size_t kMaxRuns = 8;

struct ComparedRun {
  std::string name;
  Run run;
  Plan plan;
};

// The runs of all documents; their document's name comes first if names repeat.
std::vector<ComparedRun> runs_of(const std::vector<std::string>& files) {
  std::vector<ComparedRun> out;
  const std::vector<std::string> names = short_names(files);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const Runs runs = load_document<Runs>(files[i]).content;
    for (const Run& run : runs.runs) {
      const bool is_known =
          std::any_of(out.begin(), out.end(), [&](const ComparedRun& one) { return one.run.name == run.name; });
      out.push_back({is_known || runs.runs.size() == 1 ? names[i] : run.name, run, runs.plan_of(run)});
    }
  }
  if (out.size() < 2)
    throw_bad_input("expected at least two runs to compare, got " + std::to_string(out.size()));
  if (out.size() > kMaxRuns)
    throw_bad_input("the documents have " + std::to_string(out.size()) + " runs: a table shows " +
                    std::to_string(kMaxRuns) + " at most");
  return out;
}

// The probability that so large a difference is more than chance; 0.5: it cannot be told.
double chance_of_difference(const std::vector<double>& a, const std::vector<double>& b) {
  constexpr std::size_t kFewest = 3;
  if (a.size() < kFewest || b.size() < kFewest) return 0.5;
  std::vector<double> all = a;
  all.insert(all.end(), b.begin(), b.end());
  const auto distance = [&] {
    const auto cut = all.begin() + static_cast<std::ptrdiff_t>(a.size());
    return std::abs(median(std::vector<double>(all.begin(), cut)) -
                    median(std::vector<double>(cut, all.end())));
  };
  const double measured = distance();
  constexpr int kDeals = 2000;
  constexpr double kRounding = 1e-9;
  std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same documents give the same table
  int as_far = 0;
  for (int i = 0; i < kDeals; ++i) {
    std::shuffle(all.begin(), all.end(), random);
    if (distance() >= measured * (1 - kRounding)) ++as_far;
  }
  return 1 - static_cast<double>(as_far + 1) / (kDeals + 1);
}

ComparedValue value_of(const Timing* timing, const Timing* first) {
  if (timing == nullptr || timing->empty()) return {"-", "", ""};
  ComparedValue out{format_seconds(timing->median_s()), "", ""};
  if (timing == first || first == nullptr || first->empty()) return out;
  out.change = shown_change(first->median_s(), timing->median_s());
  const double chance = chance_of_difference(first->samples_s, timing->samples_s);
  constexpr double kTell = 0.8;
  const bool has_samples = timing->samples_s.size() > 2 && first->samples_s.size() > 2;
  out.sure = !has_samples     ? "cannot tell: fewer than 3 samples"
             : chance < kTell ? "within the noise"
                              : shown_sureness(chance);
  return out;
}

void add_layouts(const std::vector<ComparedRun>& runs, Comparison& out) {
  std::set<std::string> names;
  for (const ComparedRun& one : runs) {
    for (const auto& [name, task] : one.plan.tasks) names.insert(name);
  }
  for (const std::string& name : names) {
    ComparisonRow row{name + " layout", {}};
    for (const ComparedRun& one : runs) {
      const auto found = one.plan.tasks.find(name);
      row.values.push_back({found == one.plan.tasks.end() ? "-" : describe(found->second), "", ""});
    }
    out.rows.push_back(std::move(row));
  }
}

using Timers = std::map<std::string, Timing> Run::*;

void add_timers(const std::string& words, Timers timers, const std::vector<ComparedRun>& runs,
                Comparison& out) {
  std::set<std::string> names;
  for (const ComparedRun& one : runs) {
    for (const auto& [name, timing] : one.run.*timers) names.insert(name);
  }
  for (const std::string& name : names) {
    ComparisonRow row{words + name, {}};
    const auto timing = [&](const ComparedRun& one) {
      const auto found = (one.run.*timers).find(name);
      return found == (one.run.*timers).end() ? nullptr : &found->second;
    };
    for (const ComparedRun& one : runs) row.values.push_back(value_of(timing(one), timing(runs.front())));
    out.rows.push_back(std::move(row));
  }
}

}  // namespace

Comparison compare_runs(const CompareOptions& options) {
  const std::vector<ComparedRun> runs = runs_of(options.files);
  Comparison out{"run", {}, {}, {}};
  for (const ComparedRun& one : runs) out.names.push_back(one.name);
  ComparisonRow iteration{"iteration", {}}, samples{"samples", {}}, spread{"spread", {}},
      memory{"peak memory", {}}, framework{"framework", {}};
  for (const ComparedRun& one : runs) {
    const Run& run = one.run;
    iteration.values.push_back(value_of(&run.iteration, &runs.front().run.iteration));
    samples.values.push_back({std::to_string(run.iteration.samples_s.size()), "", ""});
    spread.values.push_back(
        {run.iteration.empty() ? "-" : format_percent(run.iteration.spread_fraction()), "", ""});
    memory.values.push_back({run.peak_memory_bytes ? format_bytes(*run.peak_memory_bytes) : "-", "", ""});
    framework.values.push_back({run.framework, "", ""});
  }
  out.rows = {iteration};
  add_timers("", &Run::tasks, runs, out);
  add_timers("elapsed ", &Run::elapsed, runs, out);
  add_timers("wait for ", &Run::waits, runs, out);
  for (ComparisonRow* row : {&samples, &spread, &memory, &framework}) out.rows.push_back(std::move(*row));
  add_layouts(runs, out);
  return out;
}

}  // namespace sextant::cli
