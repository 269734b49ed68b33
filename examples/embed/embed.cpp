// Plans for a second and stops sooner when someone else says so: embed CLUSTER.json WORKFLOW.json
#include <sextant/document.h>
#include <sextant/planners.h>

#include <atomic>
#include <cstdio>

int main(int argc, char** argv) try {
  if (argc != 3) return std::fprintf(stderr, "usage: embed CLUSTER.json WORKFLOW.json\n"), 2;
  const auto cluster = sextant::load_document<sextant::Cluster>(argv[1]).content;
  const auto workflow = sextant::load_document<sextant::Workflow>(argv[2]).content;
  const sextant::Coefficients coefficients;  // neutral; or load_document<Coefficients> of a calibration
  std::atomic<bool> is_cancelled = false;    // any thread may set it: the best so far comes back
  sextant::PlanRequest request{cluster, workflow, coefficients};
  request.budget.seconds = 1;
  request.is_cancelled = &is_cancelled;
  const sextant::PlanResult result = sextant::find_planner("sha-ea")->plan(request);
  if (result.outcome != sextant::PlanOutcome::found)
    return std::fprintf(stderr, "%s\n", result.message.c_str()), 1;
  std::printf("%s: %.4g s an iteration, no plan takes less than %.4g s\n", result.plan->name.c_str(),
              result.prediction->iteration_s, result.bound_of_all_s);
  return 0;
} catch (const sextant::Error& error) {
  return std::fprintf(stderr, "embed: %s\n", error.what()), 2;
}
