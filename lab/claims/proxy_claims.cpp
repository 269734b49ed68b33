// The proxy: whole iterations of small models on CPU cores, measured by Sextant itself (data/measured).
#include <algorithm>

#include "calibrate/ranking.h"
#include "lab/claims/families.h"
#include "sextant/statistics.h"

namespace sextant::claims {
namespace {

Runs measured(const ClaimContext& context, const std::string& file) {
  return load_document<Runs>(context.data / "measured" / file).content;
}

// Every plan of a workflow that no fitted run has.
Fold unseen(const Runs& fitted, const Runs& plans) {
  Fold fold{"unseen workflow", {}, {}};
  for (const Run& run : fitted.runs) fold.fit.push_back(run.name);
  for (const Run& run : plans.runs) fold.held_out.push_back(run.name);
  return fold;
}

struct Ranked {
  std::vector<std::vector<double>> rounds_s;  // by plan
  std::vector<double> measured_s;             // the rounds' own factors taken out
  std::vector<double> predicted_s;
};

Ranked ranked(const Runs& plans, const CrossValidation& predictions) {
  Ranked out;
  for (const Run& run : plans.runs) {
    const auto prediction =
        std::find_if(predictions.times.begin(), predictions.times.end(),
                     [&](const HeldOut& time) { return is_iteration(time) && time.run == run.name; });
    if (prediction == predictions.times.end()) continue;
    out.rounds_s.push_back(run.iteration.samples_s);
    out.predicted_s.push_back(prediction->predicted);
  }
  out.measured_s = medians_in_rounds(out.rounds_s);
  return out;
}

}  // namespace

void proxy(const ClaimContext& context, ClaimReport& report) {
  const Runs runs = measured(context, "cpu-2-cores/runs.json");
  const Runs plans = measured(context, "cpu-2-cores/plan_runs.json");
  context.say("proxy: " + std::to_string(runs.runs.size() + plans.runs.size()) + " runs");
  const CrossValidation left_out =
      cross_validate(runs, leave_one_out(runs, [](const Run& run) { return run.workflow; }));
  add_mape(context, report, "proxy.tasks.held_out", "task times of proxy runs, one workflow left out", 0.08,
           left_out, is_task);

  const CrossValidation of_plans = cross_validate(joined({runs, plans}), {unseen(runs, plans)});
  const Ranked order = ranked(plans, of_plans);
  const int records = static_cast<int>(order.measured_s.size());
  const auto add_tau = [&](const char* name, const std::string& pairs, double tau) {
    add_claim(report, name, "order of the plans of a workflow that the fit did not see, " + pairs, tau, 0.9,
              of_plans, records);
    report.claims.back().kind = ClaimKind::at_least;
  };
  add_tau("proxy.kendall_tau", "all pairs", kendall_tau(order.measured_s, order.predicted_s));
  const RankAgreement agreement = rank_agreement(order.rounds_s, order.predicted_s);
  add_tau("proxy.kendall_tau_told_apart",
          "the " + std::to_string(agreement.pairs) + " pairs that their rounds tell apart", agreement.tau);
  add_claim(report, "proxy.regret",
            "how much slower than the fastest of these plans is the one that the model ranks first",
            regret_fraction(order.measured_s, order.predicted_s), 0.03, of_plans, records);
}

}  // namespace sextant::claims
