#include "probes/proxy/model/blas.h"

#include <cblas.h>

#include <sstream>

#include "sextant/error.h"

namespace sextant::proxy {
namespace {

CBLAS_TRANSPOSE as_blas(Op op) { return op == Op::plain ? CblasNoTrans : CblasTrans; }
int rows_of(ConstMatrix m, Op op) { return op == Op::plain ? m.rows : m.columns; }
int columns_of(ConstMatrix m, Op op) { return op == Op::plain ? m.columns : m.rows; }

}  // namespace

void multiply(ConstMatrix a, Op op_a, ConstMatrix b, Op op_b, Matrix c, Scale scale) {
  const int inner = columns_of(a, op_a);
  SEXTANT_CHECK(rows_of(a, op_a) == c.rows && columns_of(b, op_b) == c.columns && rows_of(b, op_b) == inner);
  if (c.rows == 0 || c.columns == 0) return;
  cblas_sgemm(CblasRowMajor, as_blas(op_a), as_blas(op_b), c.rows, c.columns, inner, scale.product, a.data,
              a.stride, b.data, b.stride, scale.old, c.data, c.stride);
}

void multiply_vector(ConstMatrix a, const float* x, float* y) {
  cblas_sgemv(CblasRowMajor, CblasNoTrans, a.rows, a.columns, 1, a.data, a.stride, x, 1, 0, y, 1);
}

void use_one_blas_thread() { openblas_set_num_threads(1); }

std::string blas_description() {
  // The configuration string reads "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ...".
  std::istringstream configuration(openblas_get_config());
  std::string name;
  std::string version;
  configuration >> name >> version;
  return name + " " + version + " " + openblas_get_corename();
}

}  // namespace sextant::proxy
