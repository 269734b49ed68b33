#include "probes/proxy/model/layer.h"

#include <algorithm>

namespace sextant::proxy {
namespace {

Buffer rows_of(const BatchLimits& limits, int width) {
  return Buffer(static_cast<std::size_t>(limits.tokens) * width);
}

}  // namespace

LayerStash::LayerStash(const LayerShape& shape, const BatchLimits& limits, bool keep_probabilities)
    : keeps_probabilities(keep_probabilities),
      normed_in(rows_of(limits, shape.hidden)),
      reciprocal_in(rows_of(limits, 1)),
      qkv(rows_of(limits, shape.qkv_width())),
      probabilities(probability_floats(shape, limits, keep_probabilities)),
      attended(rows_of(limits, shape.attention_width())),
      normed_middle(rows_of(limits, shape.hidden)),
      reciprocal_middle(rows_of(limits, 1)),
      gate_up(rows_of(limits, 2 * shape.intermediate)),
      activated(rows_of(limits, shape.intermediate)),
      partial(rows_of(limits, shape.hidden)) {}

BackwardScratch::BackwardScratch(const LayerShape& shape, const BatchLimits& limits)
    : d_projected(rows_of(limits, std::max(shape.qkv_width(), 2 * shape.intermediate))),
      d_inner(rows_of(limits, std::max(shape.attention_width(), shape.intermediate))),
      d_normed(rows_of(limits, shape.hidden)),
      square(static_cast<std::size_t>(limits.longest) * limits.longest) {}

void DecodeBatch::clear() {
  tokens.clear();
  slots.clear();
  positions.clear();
}

}  // namespace sextant::proxy
