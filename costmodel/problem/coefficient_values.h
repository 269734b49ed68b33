// Coefficients resolved for one cluster and framework: a dense table that the formulas read.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "costmodel/problem/hardware.h"
#include "sextant/coefficients.h"

namespace sextant::inline costmodel {

template <typename T>
class CoefficientValues {
 public:
  // Initialises all values to neutral.
  explicit CoefficientValues(int type_count) : type_count_(type_count) {
    for (const CoefficientSpec& spec : coefficient_table()) {
      values_.insert(values_.end(), static_cast<std::size_t>(type_count), T(spec.neutral));
    }
  }

  [[nodiscard]] const T& at(CoefficientId id, int type_index = 0) const {
    return values_[slot(id, type_index)];
  }
  void set(CoefficientId id, int type_index, T value) { values_[slot(id, type_index)] = std::move(value); }

 private:
  [[nodiscard]] std::size_t slot(CoefficientId id, int type_index) const {
    return static_cast<std::size_t>(id) * static_cast<std::size_t>(type_count_) +
           static_cast<std::size_t>(type_index);
  }

  int type_count_;
  std::vector<T> values_;  // by coefficient, then device type
};

[[nodiscard]] CoefficientValues<double> resolve(const Coefficients& coefficients,
                                                const Hardware<double>& hardware, std::string_view framework);

}  // namespace sextant::inline costmodel
