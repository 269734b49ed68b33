#include "probes/proxy/workload.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace sextant::proxy {
namespace {

int draw(const Lengths& lengths, std::mt19937_64& random) {
  double tokens = lengths.max_tokens();
  if (lengths.kind == LengthKind::empirical) {
    std::discrete_distribution<std::size_t> pick(lengths.weights.begin(), lengths.weights.end());
    tokens = lengths.tokens[pick(random)];
  } else if (lengths.kind == LengthKind::lognormal) {
    std::lognormal_distribution<double> length(std::log(lengths.median), lengths.sigma);
    tokens = std::min(length(random), lengths.max);
  }
  return std::max(1, static_cast<int>(std::lround(tokens)));
}

}  // namespace

int Workload::longest() const {
  int result = 0;
  for (int i = 0; i < sequences(); ++i) result = std::max(result, length(i));
  return result;
}

std::vector<int> Workload::lengths(Range range) const {
  std::vector<int> result;
  for (int i = range.begin; i < range.end; ++i) result.push_back(length(i));
  return result;
}

std::vector<int> Workload::prompts(Range range) const {
  return {prompt_tokens.begin() + range.begin, prompt_tokens.begin() + range.end};
}

Workload make_workload(const Workflow& workflow, unsigned seed) {
  std::mt19937_64 random(seed);
  Workload workload;
  workload.offsets.push_back(0);
  for (int prompt = 0; prompt < workflow.prompts; ++prompt) {
    const int prompt_tokens = draw(workflow.prompt_tokens, random);
    for (int i = 0; i < workflow.responses_per_prompt; ++i) {
      const int response_tokens = draw(workflow.response_tokens, random);
      workload.prompt_tokens.push_back(prompt_tokens);
      workload.response_tokens.push_back(response_tokens);
      workload.offsets.push_back(workload.offsets.back() +
                                 static_cast<std::size_t>(prompt_tokens + response_tokens));
    }
  }
  return workload;
}

Range replica_range(const TaskPlan& plan, int replica, Range whole) {
  const std::vector<int> counts = replica_sequences(plan, whole.size());
  int begin = whole.begin;
  for (int i = 0; i < replica; ++i) begin += counts[static_cast<std::size_t>(i)];
  return {begin, begin + counts[static_cast<std::size_t>(replica)]};
}

std::vector<Range> cut_by_size(Range whole, int size) {
  std::vector<Range> pieces;
  for (int begin = whole.begin; begin < whole.end; begin += size) {
    pieces.push_back({begin, std::min(begin + size, whole.end)});
  }
  return pieces;
}

std::vector<Range> cut_evenly(Range whole, int count) {
  std::vector<Range> pieces;
  int begin = whole.begin;
  for (int i = 0; i < count; ++i) {
    const int end = begin + whole.size() / count + (i < whole.size() % count ? 1 : 0);
    pieces.push_back({begin, end});
    begin = end;
  }
  return pieces;
}

}  // namespace sextant::proxy
