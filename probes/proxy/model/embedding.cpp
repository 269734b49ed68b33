#include "probes/proxy/model/embedding.h"

#include <algorithm>

#include "probes/proxy/model/kernels.h"

namespace sextant::proxy {

void embed(Communicator& tensor, ConstMatrix weights, int first_token, std::span<const int> tokens, Matrix x) {
  for (int i = 0; i < x.rows; ++i) {
    const int row = tokens[static_cast<std::size_t>(i)] - first_token;
    if (row >= 0 && row < weights.rows) {
      std::copy_n(weights.row(row), x.columns, x.row(i));
    } else {
      std::fill_n(x.row(i), x.columns, 0.0F);
    }
  }
  if (tensor.size() > 1) tensor.all_reduce_sum(x.flat());
}

void embed_backward(Matrix gradients, int first_token, std::span<const int> tokens, ConstMatrix dx) {
  for (int i = 0; i < dx.rows; ++i) {
    const int row = tokens[static_cast<std::size_t>(i)] - first_token;
    if (row < 0 || row >= gradients.rows) continue;
    const auto width = static_cast<std::size_t>(dx.columns);
    add_to({gradients.row(row), width}, {dx.row(i), width});
  }
}

}  // namespace sextant::proxy
