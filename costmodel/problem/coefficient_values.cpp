#include "costmodel/problem/coefficient_values.h"

namespace sextant::inline costmodel {

CoefficientValues<double> resolve(const Coefficients& coefficients, const Hardware<double>& hardware,
                                  std::string_view framework) {
  CoefficientValues<double> values(hardware.type_count());
  for (const CoefficientSpec& spec : coefficient_table()) {
    for (int type = 0; type < hardware.type_count(); ++type) {
      values.set(spec.id, type, coefficients.value(spec.id, hardware.type_name(type), framework));
    }
  }
  return values;
}

}  // namespace sextant::inline costmodel
