#include "sextant/precision.h"

#include "documents/values/names.h"

namespace sextant {
namespace {

constexpr std::array<std::string_view, kPrecisionCount> kNames{"fp64", "fp32", "tf32", "bf16",
                                                               "fp16", "fp8",  "fp4"};
constexpr std::array<double, kPrecisionCount> kBytes{8, 4, 4, 2, 2, 1, 0.5};

}  // namespace

double bytes_per_element(Precision precision) { return kBytes.at(static_cast<std::size_t>(precision)); }

std::string_view name_of(Precision precision) { return name_in(kNames, precision); }

Precision parse_precision(const JsonView& view) { return parse_name<Precision>(view, kNames); }

}  // namespace sextant
