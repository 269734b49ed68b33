#include "costmodel/terms/data_parallel.h"

#include <algorithm>

namespace sextant::terms {

std::vector<Segment> common_segments(const TaskPlan& plan) {
  std::vector<int> cuts{0};  // first layers of segments, then the total
  for (const Replica& replica : plan.replicas) {
    int end = 0;
    for (const Stage& stage : replica.stages) cuts.push_back(end += stage.layers);
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  std::vector<Segment> segments;
  for (std::size_t c = 0; c + 1 < cuts.size(); ++c) {
    Segment segment{cuts[c], cuts[c + 1] - cuts[c], {}};
    for (const Replica& replica : plan.replicas) {
      int stage = 0, end = replica.stages.front().layers;
      while (end <= segment.first) end += replica.stages[static_cast<std::size_t>(++stage)].layers;
      segment.stage_of.push_back(stage);
    }
    segments.push_back(std::move(segment));
  }
  return segments;
}

double segment_parameters(const Segment& segment, const Model& model, bool is_first, bool is_last) {
  return slice_parameters(model, segment.layers, is_first, is_last);
}

}  // namespace sextant::terms
