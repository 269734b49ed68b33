// Matrix products of the proxy: OpenBLAS in single precision on one thread, because a device is a core.
#pragma once

#include <string>

#include "probes/proxy/model/buffer.h"

namespace sextant::proxy {

enum class Op { plain, transposed };

struct Scale {
  float product = 1;  // alpha
  float old = 0;      // beta: 1 accumulates, 0 overwrites the old values
};
inline constexpr Scale kOverwrite{1, 0};
inline constexpr Scale kAccumulate{1, 1};

// c = scale.product * op(a) * op(b) + scale.old * c. Shapes must fit.
void multiply(ConstMatrix a, Op op_a, ConstMatrix b, Op op_b, Matrix c, Scale scale = kOverwrite);

// y = a * x for one vector x of a.columns elements.
void multiply_vector(ConstMatrix a, const float* x, float* y);

// Limits OpenBLAS to one thread; call before the first product.
void use_one_blas_thread();

// "OpenBLAS 0.3.21 Zen".
[[nodiscard]] std::string blas_description();

}  // namespace sextant::proxy
