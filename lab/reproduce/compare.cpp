#include "lab/reproduce/compare.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/units.h"
#include "sextant/objective.h"

namespace sextant::inline lab {
namespace {

constexpr double kWorthSaying = 0.05;  // of the slower iteration
constexpr std::size_t kMaxParts = 2;

// How far beyond one end of a published range a figure still agrees with it.
double tolerance(const Comparison& comparison, double end) {
  const bool is_near_one = comparison.unit == "x" && end < kSmallRatio && end > 1 / kSmallRatio;
  if (!is_near_one) return kAgreementShare * end;
  return std::max(kMinTolerance, kAgreementShare * std::abs(end - 1));
}

double min_agreeing(const Comparison& comparison) {
  return comparison.published_low - tolerance(comparison, comparison.published_low);
}

double max_agreeing(const Comparison& comparison) {
  return comparison.published_high + tolerance(comparison, comparison.published_high);
}

struct FoundSide {
  const ReproducedPlan* plan = nullptr;
  std::string label;
};

std::optional<FoundSide> find(const Side& side, bool says_cell, const std::vector<ReproducedCell>& cells) {
  for (const ReproducedCell& cell : cells) {
    if (cell.name != side.cell) continue;
    for (const ReproducedPlan& plan : cell.plans) {
      if (plan.name == side.contestant)
        return FoundSide{&plan, plan.name + (says_cell ? " on " + cell.name : "")};
    }
  }
  return std::nullopt;
}

std::string unit_of(const Figure& figure) {
  if (figure.over) return "x";
  switch (figure.measure) {
    case Measure::sequences_per_s:
      return "sequences/s";
    case Measure::tokens_per_s:
      return "tokens/s";
    case Measure::tokens_per_usd:
      return "tokens/$";
    case Measure::iteration_s:
    case Measure::task_s:
    case Measure::weight_sync_s:
    case Measure::found_s:
      return "s";
  }
  return "";
}

std::string shown(double value, const std::string& unit) {
  if (unit == "s") return format_seconds(value);
  return format_number(value) + (unit == "x" ? "x" : " " + unit);
}

// The time of a part of an iteration: a task by name, or the weight sync.
struct Part {
  std::string name;
  double counted_s = 0;
  std::string whole;  // "of 12.0 s, mostly decode"; empty of a weight sync
};

// If tasks wait for each other, their added times make up the iteration; if they run in parallel, none may add
// anything, and their own times say more.
bool adds_up(const ReproducedPlan& plan) {
  constexpr double kMaximum = 0.9;
  double sum = plan.weight_sync_s;
  for (const auto& [name, task] : plan.tasks) sum += task.exposed_s;
  return sum >= kMaximum * plan.iteration_s;
}

std::vector<Part> parts_of(const ReproducedPlan& plan, bool by_exposure) {
  std::vector<Part> parts;
  for (const auto& [name, task] : plan.tasks) {
    const std::string mostly = "mostly " + std::string(name_of(task.largest_term));
    parts.push_back(by_exposure
                        ? Part{name, task.exposed_s, "of " + format_seconds(task.time_s) + ", " + mostly}
                        : Part{name, task.time_s, mostly});
  }
  if (plan.weight_sync_s > 0) parts.push_back({"weight_sync", plan.weight_sync_s, ""});
  return parts;
}

struct Difference {
  std::string name;
  const Part* of = nullptr;  // null: the plan has no such part
  const Part* over = nullptr;

  [[nodiscard]] double more_s() const { return (over ? over->counted_s : 0) - (of ? of->counted_s : 0); }
};

// Largest first.
std::vector<Difference> differences(const std::vector<Part>& of, const std::vector<Part>& over) {
  const auto named = [](const std::vector<Part>& parts, const std::string& name) {
    const auto found = std::find_if(parts.begin(), parts.end(), [&](const Part& p) { return p.name == name; });
    return found == parts.end() ? nullptr : &*found;
  };
  std::set<std::string> names;
  for (const Part& part : of) names.insert(part.name);
  for (const Part& part : over) names.insert(part.name);
  std::vector<Difference> all;
  all.reserve(names.size());
  for (const std::string& name : names) all.push_back({name, named(of, name), named(over, name)});
  std::stable_sort(all.begin(), all.end(), [](const Difference& a, const Difference& b) {
    return std::abs(a.more_s()) > std::abs(b.more_s());
  });
  return all;
}

// "12.0 s (of 30.0 s, mostly decode)"
std::string describe(const Part* part) {
  if (part == nullptr) return "0 s";
  return format_seconds(part->counted_s) + (part->whole.empty() ? "" : " (" + part->whole + ")");
}

// The parts that make up the difference between two iterations.
std::string explain(const FoundSide& of, const FoundSide& over) {
  const bool by_exposure = adds_up(*of.plan) && adds_up(*over.plan);
  const std::vector<Part> of_parts = parts_of(*of.plan, by_exposure),
                          over_parts = parts_of(*over.plan, by_exposure);
  const double minimum = kWorthSaying * std::max(of.plan->iteration_s, over.plan->iteration_s);
  std::string out;
  std::size_t said = 0;
  for (const Difference& difference : differences(of_parts, over_parts)) {
    if (said++ == kMaxParts || std::abs(difference.more_s()) < minimum) break;
    out += (out.empty() ? "" : "; ") + difference.name + (by_exposure ? " adds " : " takes ") +
           describe(difference.over) + " in " + over.label + " and " + describe(difference.of) + " in " +
           of.label;
  }
  if (!out.empty()) return out;
  return std::string("no task ") + (by_exposure ? "adds " : "takes ") + format_percent(kWorthSaying, 0) +
         " of an iteration more to one than to the other";
}

std::string iteration(const FoundSide& side, Measure measure) {
  std::string out = side.label + " takes " + format_seconds(side.plan->iteration_s) + " an iteration";
  if (measure == Measure::tokens_per_usd) out += " at " + format_number(side.plan->usd_per_hour) + " $/h";
  return out;
}

// How slow the other would have to be for the nearest published ratio.
std::string needed(double ours, double low, double high, const FoundSide& over) {
  const double nearest = ours < low ? low : high;
  return "; for the published ratio " + over.label + " would have to take " +
         format_seconds(over.plan->iteration_s * nearest / ours);
}

std::string explain_ratio(const Comparison& comparison, Measure measure, const FoundSide& of,
                          const FoundSide& over) {
  return iteration(of, measure) + ", " + iteration(over, measure) +
         needed(*comparison.ours, comparison.published_low, comparison.published_high, over) + "; " +
         explain(of, over);
}

std::string explain_task(const Figure& figure, const ReproducedPlan& plan) {
  const ReproducedTask& task = plan.tasks.at(figure.task);
  return "of " + figure.task + "'s " + format_seconds(task.time_s) + " " +
         std::string(name_of(task.largest_term)) + " takes " + format_seconds(task.largest_term_s);
}

// The part that adds most to the iteration.
std::string explain_iteration(const ReproducedPlan& plan) {
  const bool by_exposure = adds_up(plan);
  const std::vector<Part> parts = parts_of(plan, by_exposure);
  const auto longest = std::max_element(parts.begin(), parts.end(),
                                        [](const Part& a, const Part& b) { return a.counted_s < b.counted_s; });
  std::string out = plan.name + " takes " + format_seconds(plan.iteration_s) + " an iteration";
  if (longest == parts.end()) return out;
  return out + "; " + longest->name + (by_exposure ? " adds most, " : " takes longest, ") + describe(&*longest);
}

std::string explain_one(const Figure& figure, const ReproducedPlan& plan) {
  switch (figure.measure) {
    case Measure::task_s:
      return explain_task(figure, plan);
    case Measure::weight_sync_s:
      return plan.name + " takes " + format_seconds(plan.iteration_s) + " an iteration, " +
             format_percent(plan.weight_sync_s / plan.iteration_s) + " of it the weight sync";
    case Measure::found_s:
      return plan.name + " found its plan after " + format_seconds(plan.found_s);
    default:
      return explain_iteration(plan);
  }
}

bool is_within(const Comparison& comparison) {
  return *comparison.ours >= min_agreeing(comparison) && *comparison.ours <= max_agreeing(comparison);
}

// One is published to be better and the other is here.
bool is_reversed(const Comparison& comparison) {
  return comparison.unit == "x" && ((comparison.published_low > 1 && *comparison.ours < 1) ||
                                    (comparison.published_high < 1 && *comparison.ours > 1));
}

std::string opening(const Comparison& comparison) { return stated_difference(comparison) + "; "; }

void judge(const Figure& figure, const FoundSide& of, const std::optional<FoundSide>& over,
           Comparison& comparison) {
  comparison.agrees = is_agreeing(comparison);
  if (comparison.agrees) return;
  comparison.sentence = opening(comparison) + (over ? explain_ratio(comparison, figure.measure, of, *over)
                                                    : explain_one(figure, *of.plan));
}

std::optional<double> value_of(const Figure& figure, const FoundSide& of,
                               const std::optional<FoundSide>& over) {
  const std::optional<double> first = measure_of(figure, *of.plan);
  if (!over) return first;
  const std::optional<double> second = measure_of(figure, *over->plan);
  if (!first || !second || *second == 0) return std::nullopt;
  return *first / *second;
}

std::string infeasibility_reason(const FoundSide& of, const std::optional<FoundSide>& over) {
  for (const FoundSide* side : {&of, over ? &*over : nullptr}) {
    if (side && !side->plan->has_plan()) return side->label + " has no plan: " + side->plan->problem;
  }
  return "the prediction has no such figure";
}

}  // namespace

std::optional<double> measure_of(const Figure& figure, const ReproducedPlan& plan) {
  if (!plan.has_plan()) return std::nullopt;
  switch (figure.measure) {
    case Measure::sequences_per_s:
      return plan.sequences_per_s;
    case Measure::tokens_per_s:
      return plan.tokens_per_s;
    case Measure::tokens_per_usd:
      if (plan.usd_per_hour <= 0) return std::nullopt;
      return plan.tokens_per_s * kSecondsPerHour / plan.usd_per_hour;
    case Measure::iteration_s:
      return plan.iteration_s;
    case Measure::task_s:
      if (!plan.tasks.contains(figure.task)) return std::nullopt;
      return plan.tasks.at(figure.task).time_s;
    case Measure::weight_sync_s:
      return plan.weight_sync_s;
    case Measure::found_s:
      return plan.found_s;
  }
  return std::nullopt;
}

std::vector<Comparison> compare(const std::vector<Figure>& figures, const std::vector<ReproducedCell>& cells) {
  std::vector<Comparison> all;
  for (const Figure& figure : figures) {
    const bool says_cells = figure.over && figure.over->cell != figure.of.cell;
    const std::optional<FoundSide> of = find(figure.of, says_cells, cells);
    const std::optional<FoundSide> over =
        figure.over ? find(*figure.over, says_cells, cells) : std::optional<FoundSide>();
    if (!of || (figure.over && !over)) continue;
    Comparison one{figure.group,
                   figure.of.cell,
                   figure.source,
                   unit_of(figure),
                   value_of(figure, *of, over),
                   figure.low,
                   figure.high,
                   false,
                   ""};
    if (!figure.task.empty()) one.cell += ", " + figure.of.contestant + ", " + figure.task;
    if (figure.measure == Measure::iteration_s) one.cell += ", " + figure.of.contestant;
    if (one.ours) {
      judge(figure, *of, over, one);
    } else {
      one.sentence = infeasibility_reason(*of, over);
    }
    all.push_back(std::move(one));
  }
  return all;
}

std::string stated_difference(const Comparison& comparison) {
  const double ours = *comparison.ours;
  const std::string out =
      "ours " + shown_ours(comparison) + ", published " + shown_published(comparison) + ": ";
  if (is_reversed(comparison)) return out + "the other way round";
  const bool is_less = ours < comparison.published_low;
  const double factor = is_less ? comparison.published_low / ours : ours / comparison.published_high;
  return out + format_number(factor) + (is_less ? " times less" : " times more");
}

bool is_agreeing(const Comparison& comparison) { return is_within(comparison) && !is_reversed(comparison); }

std::string shown_ours(const Comparison& comparison) {
  return comparison.ours ? shown(*comparison.ours, comparison.unit) : "none";
}

std::string shown_published(const Comparison& comparison) {
  std::string high = shown(comparison.published_high, comparison.unit);
  if (comparison.published_low == comparison.published_high) return high;
  if (comparison.published_low == 0) return "at most " + high;
  return (comparison.unit == "x" ? format_number(comparison.published_low)
                                 : shown(comparison.published_low, comparison.unit)) +
         " to " + high;
}

}  // namespace sextant::inline lab
