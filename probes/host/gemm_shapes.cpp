#include "probes/host/gemm_shapes.h"

#include <algorithm>

#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

int part_of(int whole, int parts) { return (whole + parts - 1) / parts; }

}  // namespace

double GemmShape::elements() const {
  return static_cast<double>(m) * k + static_cast<double>(k) * n + static_cast<double>(m) * n;
}

GemmShape square_gemm(int size) { return {std::to_string(size), size, size, size, false}; }

std::vector<GemmShape> gemm_shapes_of(const Model& model, int tokens, int tensor_parallel) {
  if (tokens < 1) throw_bad_input("GEMM shapes need at least one token");
  if (tensor_parallel < 1 || tensor_parallel > model.heads) {
    throw_bad_input("tensor parallelism must be between 1 and the " + std::to_string(model.heads) +
                    " heads of " + model.name + ", not " + std::to_string(tensor_parallel));
  }
  const int heads = part_of(model.heads, tensor_parallel);
  const int kv_heads = part_of(model.kv_heads, tensor_parallel);
  int mlp_tokens = tokens;
  int intermediate = part_of(model.intermediate, tensor_parallel);
  if (model.experts) {
    const double share = static_cast<double>(model.experts->active_per_token) / model.experts->count;
    mlp_tokens = std::max(1, static_cast<int>(tokens * share));
    intermediate = part_of(model.experts->intermediate, tensor_parallel);
  }
  std::vector<GemmShape> shapes = {
      {"qkv", tokens, (heads + 2 * kv_heads) * model.head_dim, model.hidden},
      {"attention_scores", tokens, tokens, model.head_dim, true},
      {"attention_values", tokens, model.head_dim, tokens},
      {"output", tokens, model.hidden, heads * model.head_dim},
      {"gate_up", mlp_tokens, 2 * intermediate, model.hidden},
      {"down", mlp_tokens, model.hidden, intermediate},
  };
  if (model.value_head) {
    shapes.push_back({"head", tokens, 1, model.hidden});
  } else if (model.vocabulary > 0) {
    shapes.push_back({"head", tokens, part_of(model.vocabulary, tensor_parallel), model.hidden});
  }
  return shapes;
}

}  // namespace sextant::inline probes
