#include "planner/risk/draws.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <span>
#include <utility>

#include "costmodel/iteration.h"
#include "costmodel/problem/problem.h"
#include "costmodel/problem/work.h"
#include "sextant/error.h"

namespace sextant::inline planner {
namespace {

bool is_far(LinkLevel level) {
  return level == LinkLevel::within_region || level == LinkLevel::between_regions;
}

const Node* node_named(const Cluster& cluster, const std::string& name) {
  const auto found = std::find_if(cluster.nodes().begin(), cluster.nodes().end(),
                                  [&](const Node& node) { return node.name == name; });
  return found == cluster.nodes().end() ? nullptr : &*found;
}

// "node/3": a device of a node.
std::string node_of(const std::string& device) { return device.substr(0, device.rfind('/')); }

bool is_far(const Cluster& cluster, const LinkException& exception) {
  if (exception.scope == LinkScope::zone || exception.scope == LinkScope::region)
    return exception.from != exception.to;
  const bool is_device = exception.scope == LinkScope::device;
  const Node* from = node_named(cluster, is_device ? node_of(exception.from) : exception.from);
  const Node* to = node_named(cluster, is_device ? node_of(exception.to) : exception.to);
  return from != nullptr && to != nullptr && (from->zone != to->zone || from->region != to->region);
}

void scale(LinkRate& rate, double factor) {
  rate.bytes_per_s.value *= factor;
  if (rate.capacity_bytes_per_s) rate.capacity_bytes_per_s->value *= factor;
}

// All links between zones or regions have so much of their rates.
Cluster with_far_links(const Cluster& cluster, double factor) {
  std::map<LinkLevel, LinkRate> levels = cluster.levels();
  for (auto& [level, rate] : levels) {
    if (is_far(level)) scale(rate, factor);
  }
  std::vector<LinkException> exceptions = cluster.exceptions();
  for (LinkException& exception : exceptions) {
    if (is_far(cluster, exception)) scale(exception.rate, factor);
  }
  return Cluster(cluster.name(), cluster.device_types(), cluster.nodes(), std::move(levels),
                 std::move(exceptions));
}

}  // namespace

std::vector<RiskDraw> risk_draws(const PlanRequest& request, const CoefficientUncertainty& doubt,
                                 const RiskSpread& spread, int count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  const std::size_t draws = doubt.draws.empty() ? static_cast<std::size_t>(count) : doubt.draws.size();
  std::vector<RiskDraw> all;
  double length_deviation = 0, rate_deviation = 0;
  for (std::size_t i = 0; i < draws; ++i) {
    const bool is_mirrored = i % 2 == 1;
    length_deviation = is_mirrored ? -length_deviation : normal(random);
    rate_deviation = is_mirrored ? -rate_deviation : normal(random);
    const double length = std::exp(spread.response_lengths * length_deviation);
    const double rate = std::exp(spread.far_links * rate_deviation);
    const double model = std::exp(doubt.model_log_deviation.value_or(0) * normal(random));
    RiskDraw draw{doubt.draws.empty() ? request.coefficients : doubt.draws[i], request.workflow,
                  spread.far_links > 0 ? with_far_links(request.cluster, rate) : request.cluster, model};
    draw.workflow.response_tokens = scaled(draw.workflow.response_tokens, length);
    all.push_back(std::move(draw));
  }
  return all;
}

std::vector<double> times_under(const PlanRequest& request, const Plan& plan,
                                const std::vector<RiskDraw>& draws) {
  std::vector<double> times_s;
  for (const RiskDraw& draw : draws) {
    Hardware<double> hardware(draw.cluster);
    CoefficientValues<double> values = resolve(draw.coefficients, hardware, request.framework);
    const Problem<double> problem(draw.workflow, plan, std::move(hardware), std::move(values));
    times_s.push_back(iteration_cost(problem).iteration_s * draw.model_factor);
  }
  return times_s;
}

}  // namespace sextant::inline planner
