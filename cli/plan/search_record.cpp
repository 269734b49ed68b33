#include "cli/plan/search_record.h"

#include <algorithm>

#include "cli/shared/table.h"
#include "core/units.h"

namespace sextant::cli {
namespace {

// "takes less than 2 s".
std::string describe_space_bound(const SearchRecord& search) {
  if (search.space_lower_bound_s) return "takes less than " + format_seconds(*search.space_lower_bound_s);
  if (search.space_lower_bound_usd)
    return "costs less than " + format_number(*search.space_lower_bound_usd) + " dollars per iteration";
  if (search.space_lower_bound_devices)
    return "uses fewer than " + std::to_string(*search.space_lower_bound_devices) + " devices";
  return "";
}

std::string describe_proof(const SearchRecord& search) {
  std::string space = "the space of " + search.planner;
  if (search.has_limits()) space += " within the limits";
  if (search.proof == Proof::optimal)
    return "proved: no plan in " + space + " " + std::string(search.better()) + " under this model\n";
  const std::string bound = describe_space_bound(search);
  if (!search.space_gap_fraction || bound.empty()) return "";
  return "at most " + format_percent(*search.space_gap_fraction) + " above the best in " + space + ": none " +
         bound + "\n";
}

}  // namespace

// "rents 16 of ... devices for 32 dollars an hour".
std::string describe_price(const SearchRecord& search) {
  if (search.plan.empty()) return "";
  std::string text = "uses " + std::to_string(search.devices) + (search.devices == 1 ? " device" : " devices");
  if (!search.usd_per_iteration) return text + "\n";
  constexpr double kMillion = 1e6;
  text += ": " + format_number(*search.usd_per_hour) + " dollars per hour, " +
          format_number(*search.usd_per_iteration) + " per iteration, " +
          format_number(kMillion * *search.usd_per_token) + " per million tokens";
  if (search.lower_bound_usd && *search.lower_bound_usd > 0)
    text += "; no plan costs less than " + format_number(*search.lower_bound_usd) + " per iteration";
  return text + "\n";
}

std::string describe_pins(const SearchRecord& search) {
  std::string text;
  for (const auto& [task, devices] : search.pins) {
    text += (text.empty() ? "pinned: " : ", ") + task + " to " + std::to_string(devices.size()) +
            (devices.size() == 1 ? " device" : " devices") +
            (search.pinned_layouts.contains(task) ? ", with the given layout" : "");
  }
  return text.empty() ? "" : text + "\n";
}

namespace {

// The inputs that vary in the samples. The interval that is printed with the time takes them as documented.
std::string describe_spread(const RiskRecord& risk) {
  std::string text;
  if (risk.response_lengths > 0) text += "response lengths vary by " + format_percent(risk.response_lengths);
  if (risk.far_links > 0)
    text += (text.empty() ? "" : ", ") + ("links between zones by " + format_percent(risk.far_links));
  return text.empty() ? "" : " (" + text + ")";
}

}  // namespace

std::string describe_risk(const SearchRecord& search) {
  if (!search.risk) return "";
  const RiskRecord& risk = *search.risk;
  const std::string what = risk.goal == "mean" ? "in the mean" : "at " + risk.goal;
  const double shorter = 1 - risk.iteration_s / risk.fastest_iteration_s;
  constexpr double kAlike = 5e-4;  // nothing of what is printed
  return what + " of " + std::to_string(risk.draws) + " samples" + describe_spread(risk) +
         " an iteration takes " + format_seconds(risk.iteration_s) +
         (shorter > kAlike ? ", " + format_percent(shorter) +
                                 " less than the plan that is fastest at the "
                                 "documented values"
                           : ": the plan is also the fastest at the documented values, or as good") +
         "; " + std::to_string(risk.plans) + (risk.plans == 1 ? " plan was" : " plans were") + " judged\n";
}

std::string describe_run(const SearchRecord& search) {
  if (!search.run) return "";
  const RunRecord& run = *search.run;
  Table table({"iterations", "responses", "this plan", "re-planned"});
  for (const RunRecord::Part& part : run.parts)
    table.add({std::to_string(part.iterations), "x " + format_number(part.length_factor),
               format_seconds(part.iteration_s), format_seconds(part.replanned_s)});
  std::string text = table.text() + "the run takes " + format_seconds(run.total_s) + " with this plan";
  if (run.changes == 0) return text + "; changing plans does not pay off\n";
  return text + ", " + format_seconds(run.replanned_total_s) + " with " + std::to_string(run.changes) +
         (run.changes == 1 ? " change" : " changes") + " of plans that take " + format_seconds(run.change_s) +
         " each\n";
}

// The gap for the goal of the plan. A bound for the number of devices is known only through the time.
std::string describe_gap(const SearchRecord& search) {
  std::string minimum = "any plan " + std::string(search.bounded_plans()) + " takes at least " +
                        format_seconds(search.lower_bound_s) + "\n";
  if (search.goal == "cost" && search.usd_gap_fraction()) {
    return "at most " + format_percent(*search.usd_gap_fraction()) +
           " more expensive than the cheapest plan under this model; " + minimum;
  }
  if (search.goal != "time" || !search.is_near_bound()) return minimum;
  return "at most " + format_percent(search.gap_fraction()) + " above the optimum under this model: " + minimum;
}

std::string describe_standing(const SearchRecord& search) {
  std::string text;
  for (const std::string& sentence : search.standing) text += sentence + "\n";
  return text;
}

std::string describe(const SearchRecord& search) {
  return search.planner + ": " + search.message + "; " + format_seconds(search.wall_s) + "\n" +
         describe_pins(search) + describe_proof(search) + describe_gap(search) + describe_risk(search) +
         describe_run(search) + describe_price(search) + describe_standing(search);
}

}  // namespace sextant::cli
