#include "sextant/search.h"

#include <array>
#include <cmath>

#include "documents/field_tables.h"

namespace sextant {
namespace {

constexpr std::array<std::string_view, 3> kOutcomes = {"found", "infeasible", "too_large"};
constexpr std::array<std::string_view, 3> kGoals = {"time", "cost", "devices"};
constexpr std::array<std::string_view, 4> kProofs = {"none", "optimal", "gap", "time_limit"};

std::uint64_t parse_whole(const JsonView& view, std::int64_t minimum = 0) {
  return static_cast<std::uint64_t>(view.integer(minimum, SearchRecord::kMaxCount));
}

template <typename T, typename Parse>
std::optional<T> parse_optional(const JsonView& view, std::string_view key, Parse parse) {
  const std::optional<JsonView> member = view.optional(key);
  return member ? std::optional<T>(parse(*member)) : std::nullopt;
}

// Ever better, never earlier.
// has_loss: of another goal than time; it is lower at every point, or the time is.
std::vector<Improvement> parse_curve(const JsonView& view, bool has_loss) {
  std::vector<Improvement> curve;
  for (const JsonView& point : view.items()) {
    if (has_loss) {
      point.allow_only({"evaluations", "seconds", "iteration_s", "loss"});
    } else {
      point.allow_only({"evaluations", "seconds", "iteration_s"});
    }
    const std::string_view lower = has_loss ? "loss" : "iteration_s";
    const Improvement improvement{
        parse_whole(point.required("evaluations")), point.required("seconds").non_negative(),
        point.required("iteration_s").positive(),
        has_loss ? point.required(lower).non_negative() : point.required(lower).positive()};
    if (!curve.empty() && improvement.evaluations < curve.back().evaluations)
      point.required("evaluations").fail("fewer than at the point before");
    const bool is_better =
        curve.empty() || improvement.loss < curve.back().loss ||
        (improvement.loss == curve.back().loss && improvement.iteration_s < curve.back().iteration_s);
    if (!is_better) point.required(lower).fail("no better than the point before");
    curve.push_back(improvement);
  }
  return curve;
}

void parse_request(const JsonView& view, SearchRecord& search) {
  search.workflow = view.required("workflow").text();
  search.cluster = view.required("cluster").text();
  search.planner = view.required("planner").text();
  search.seed = parse_whole(view.required("seed"));
  search.threads = view.required("threads").count(1);
  search.budget_s = parse_optional<double>(view, "budget_s", [](const auto& v) { return v.positive(); });
  search.budget_evaluations = parse_optional<std::uint64_t>(view, "budget_evaluations",
                                                            [](const auto& v) { return parse_whole(v, 1); });
}

std::optional<double> parse_positive(const JsonView& view, std::string_view key) {
  return parse_optional<double>(view, key, [](const auto& v) { return v.positive(); });
}

// Missing members are those of the fastest plan without limits.
void parse_objective(const JsonView& view, SearchRecord& search) {
  if (const std::optional<JsonView> goal = view.optional("goal"))
    search.goal = kGoals[static_cast<std::size_t>(parse_name<std::size_t>(*goal, kGoals))];
  search.max_iteration_s = parse_positive(view, "most_iteration_s");
  search.max_usd_per_hour = parse_positive(view, "most_usd_per_hour");
  search.max_usd_per_iteration = parse_positive(view, "most_usd_per_iteration");
}

std::set<DeviceId> parse_devices(const JsonView& view) {
  std::set<DeviceId> devices;
  for (const JsonView& device : view.items()) {
    if (!devices.insert(DeviceId{device.count(0)}).second) device.fail("device is listed twice");
  }
  if (devices.empty()) view.fail("expected at least one device");
  return devices;
}

// Missing: none.
void parse_pins(const JsonView& view, SearchRecord& search) {
  const std::optional<JsonView> pins = view.optional("pins");
  if (!pins) return;
  for (const auto& [task, pin] : pins->members()) {
    pin.allow_only({"devices", "has_layout"});
    search.pins[task] = parse_devices(pin.required("devices"));
    if (pin.required("has_layout").flag()) search.pinned_layouts.insert(task);
  }
}

void parse_bounds(const JsonView& view, SearchRecord& search) {
  const auto non_negative = [](const JsonView& member) { return member.non_negative(); };
  search.proof = parse_name<Proof>(view.required("proof"), kProofs);
  search.space_lower_bound_s = parse_optional<double>(view, "space_lower_bound_s", non_negative);
  search.space_lower_bound_usd = parse_optional<double>(view, "space_lower_bound_usd", non_negative);
  search.space_lower_bound_devices = parse_optional<int>(
      view, "space_lower_bound_devices", [](const JsonView& member) { return member.count(0); });
  search.space_gap_fraction = parse_optional<double>(view, "space_gap_fraction", non_negative);
  search.lower_bound_s = view.required("lower_bound_s").positive();
  search.lower_bound_usd = parse_optional<double>(view, "lower_bound_usd", non_negative);
}

// gap_fraction follows from the others: for readers who do not compute.
void parse_plan(const JsonView& view, SearchRecord& search) {
  for (const std::string_view key : {"plan", "iteration_s", "gap_fraction", "devices", "usd_per_hour",
                                     "usd_per_iteration", "usd_per_token"}) {
    if (search.outcome != PlanOutcome::found && view.optional(key))
      view.optional(key)->fail("only allowed if a plan was found");
  }
  if (search.outcome != PlanOutcome::found) return;
  search.plan = view.required("plan").text();
  search.iteration_s = view.required("iteration_s").positive();
  if (const auto devices = view.optional("devices"))
    search.devices = devices->count(1);  // 0: the first records do not say
  const auto non_negative = [](const JsonView& member) { return member.non_negative(); };
  search.usd_per_hour = parse_optional<double>(view, "usd_per_hour", non_negative);
  search.usd_per_iteration = parse_optional<double>(view, "usd_per_iteration", non_negative);
  search.usd_per_token = parse_optional<double>(view, "usd_per_token", non_negative);
  const double gap = view.required("gap_fraction").non_negative();
  constexpr double kRounding = 1e-6;  // of the two times that it is a ratio of
  if (std::abs(gap - search.gap_fraction()) > kRounding * (1 + gap))
    view.required("gap_fraction").fail("is not iteration_s / lower_bound_s - 1");
}

std::optional<RiskRecord> parse_risk(const JsonView& view) {
  const std::optional<JsonView> risk = view.optional("risk");
  if (!risk) return std::nullopt;
  return parse_fields(*risk, risk_fields());
}

std::optional<RunRecord> parse_run(const JsonView& view) {
  const std::optional<JsonView> run = view.optional("run");
  if (!run) return std::nullopt;
  return parse_fields(*run, run_fields());
}

void put(Json& json, const char* key, const std::optional<double>& value) {
  if (value) json[key] = *value;
}

Json pins_to_json(const SearchRecord& search) {
  Json json = Json::object();
  for (const auto& [task, devices] : search.pins) {
    Json numbers = Json::array();
    for (const DeviceId device : devices) numbers.push_back(device.value);
    json[task] = {{"devices", std::move(numbers)}, {"has_layout", search.pinned_layouts.contains(task)}};
  }
  return json;
}

Json curve_to_json(const std::vector<Improvement>& curve, bool has_loss) {
  Json json = Json::array();
  for (const Improvement& point : curve) {
    json.push_back(
        {{"evaluations", point.evaluations}, {"seconds", point.seconds}, {"iteration_s", point.iteration_s}});
    if (has_loss) json.back()["loss"] = point.loss;
  }
  return json;
}

}  // namespace

const Fields<RiskRecord>& documents::risk_fields() {
  static const Fields<RiskRecord> fields{
      required("goal", &RiskRecord::goal, text(),
               "p90: the time that nine of ten samples do not exceed; mean."),
      required("draws", &RiskRecord::draws, count()),
      required("response_lengths", &RiskRecord::response_lengths, non_negative(),
               "Standard deviation of the logarithm of all lengths of responses together."),
      required("far_links", &RiskRecord::far_links, non_negative(),
               "Standard deviation of the logarithm of the rates of links between zones."),
      required("plans", &RiskRecord::plans, count(), "Number of plans that were evaluated."),
      required("iteration_s", &RiskRecord::iteration_s, positive(), "The plan's percentile or mean."),
      required("fastest_iteration_s", &RiskRecord::fastest_iteration_s, positive(),
               "The percentile or mean of the plan that is fastest at the documented values."),
  };
  return fields;
}

const Fields<RunRecord::Part>& documents::run_part_fields() {
  static const Fields<RunRecord::Part> fields{
      required("iterations", &RunRecord::Part::iterations, count()),
      required("length_factor", &RunRecord::Part::length_factor, positive(),
               "Factor of the length of all responses."),
      required("iteration_s", &RunRecord::Part::iteration_s, positive(), "Predicted iteration of the plan."),
      required("replanned_s", &RunRecord::Part::replanned_s, positive(),
               "Time of the plan in force if plans change."),
  };
  return fields;
}

const Fields<RunRecord>& documents::run_fields() {
  static const Fields<RunRecord> fields{
      required("parts", &RunRecord::parts, list_of(object(run_part_fields())))
          .then([](const JsonView& view, RunRecord& run) {
            if (run.parts.empty()) view.required("parts").fail("expected at least one part");
          })
          .described_by_hand(),
      required("change_s", &RunRecord::change_s, non_negative(),
               "Seconds of a change of plans: checkpoint, restart."),
      required("changes", &RunRecord::changes, number_of()),
      required("total_s", &RunRecord::total_s, positive(), "Time of the run with one plan."),
      required("replanned_total_s", &RunRecord::replanned_total_s, positive(),
               "Time of the run with changes of plans."),
  };
  return fields;
}

std::string_view name_of(PlanOutcome outcome) { return name_in(kOutcomes, outcome); }
std::string_view name_of(Proof proof) { return name_in(kProofs, proof); }

std::optional<double> SearchRecord::usd_gap_fraction() const {
  if (!usd_per_iteration || !lower_bound_usd) return std::nullopt;
  return relative_gap(*usd_per_iteration, *lower_bound_usd);
}

std::optional<double> relative_gap(double value, double lower_bound) {
  if (value <= lower_bound) return 0;
  if (lower_bound <= 0) return std::nullopt;
  return value / lower_bound - 1;
}

std::string_view SearchRecord::bounded_plans() const {
  return framework.empty() ? "with these execution options" : "with the same precisions and trained weights";
}

std::string_view SearchRecord::better() const {
  if (goal == "cost") return "is cheaper";
  return goal == "devices" ? "uses fewer devices, or as few and is faster" : "is faster";
}

SearchRecord SearchRecord::parse(const JsonView& view) {
  view.allow_only({"workflow",
                   "cluster",
                   "planner",
                   "framework",
                   "seed",
                   "threads",
                   "budget_s",
                   "budget_evaluations",
                   "goal",
                   "most_iteration_s",
                   "most_usd_per_hour",
                   "most_usd_per_iteration",
                   "pins",
                   "outcome",
                   "was_interrupted",
                   "message",
                   "wall_s",
                   "candidates",
                   "feasible",
                   "nodes",
                   "curve",
                   "proof",
                   "space_lower_bound_s",
                   "space_lower_bound_usd",
                   "space_lower_bound_devices",
                   "space_gap_fraction",
                   "lower_bound_s",
                   "lower_bound_usd",
                   "plan",
                   "iteration_s",
                   "devices",
                   "usd_per_hour",
                   "usd_per_iteration",
                   "usd_per_token",
                   "gap_fraction",
                   "risk",
                   "run",
                   "standing"});
  SearchRecord search;
  parse_request(view, search);
  if (const auto framework = view.optional("framework")) search.framework = framework->text();
  parse_objective(view, search);
  parse_pins(view, search);
  search.outcome = parse_name<PlanOutcome>(view.required("outcome"), kOutcomes);
  search.was_interrupted = view.required("was_interrupted").flag();
  search.message = view.required("message").text();
  search.wall_s = view.required("wall_s").non_negative();
  search.candidates = parse_whole(view.required("candidates"));
  search.feasible = parse_whole(view.required("feasible"));
  search.nodes = parse_whole(view.required("nodes"));
  search.curve = parse_curve(view.required("curve"), search.goal != kGoals.front());
  parse_bounds(view, search);
  parse_plan(view, search);
  search.risk = parse_risk(view);
  search.run = parse_run(view);
  if (const auto standing = view.optional("standing")) {
    for (const JsonView& sentence : standing->items()) search.standing.push_back(sentence.text());
  }
  return search;
}

Json SearchRecord::to_json() const {
  Json json{
      {"workflow", workflow}, {"cluster", cluster}, {"planner", planner}, {"seed", seed}, {"threads", threads}};
  if (!framework.empty()) json["framework"] = framework;
  if (budget_s) json["budget_s"] = *budget_s;
  if (budget_evaluations) json["budget_evaluations"] = *budget_evaluations;
  const bool is_time = goal == kGoals.front();
  if (!is_time) json["goal"] = goal;
  put(json, "most_iteration_s", max_iteration_s);
  put(json, "most_usd_per_hour", max_usd_per_hour);
  put(json, "most_usd_per_iteration", max_usd_per_iteration);
  if (!pins.empty()) json["pins"] = pins_to_json(*this);
  json["outcome"] = name_of(outcome);
  json["was_interrupted"] = was_interrupted;
  json["message"] = message;
  json["wall_s"] = wall_s;
  json["candidates"] = candidates;
  json["feasible"] = feasible;
  json["nodes"] = nodes;
  if (outcome == PlanOutcome::found) {
    json["plan"] = plan;
    json["iteration_s"] = iteration_s;
    if (devices > 0) json["devices"] = devices;
    put(json, "usd_per_hour", usd_per_hour);
    put(json, "usd_per_iteration", usd_per_iteration);
    put(json, "usd_per_token", usd_per_token);
    json["gap_fraction"] = gap_fraction();
  }
  if (risk) json["risk"] = fields_to_json(*risk, risk_fields());
  if (run) json["run"] = fields_to_json(*run, run_fields());
  if (!standing.empty()) json["standing"] = standing;
  json["lower_bound_s"] = lower_bound_s;
  put(json, "lower_bound_usd", lower_bound_usd);
  json["proof"] = name_of(proof);
  put(json, "space_lower_bound_s", space_lower_bound_s);
  put(json, "space_lower_bound_usd", space_lower_bound_usd);
  if (space_lower_bound_devices) json["space_lower_bound_devices"] = *space_lower_bound_devices;
  put(json, "space_gap_fraction", space_gap_fraction);
  json["curve"] = curve_to_json(curve, !is_time);
  return json;
}

}  // namespace sextant
