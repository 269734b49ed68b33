// The tables of fields of values that several documents have.
#pragma once

#include "documents/values/fields.h"
#include "sextant/model.h"

namespace sextant::inline documents {

[[nodiscard]] const Fields<Model>& model_fields();
[[nodiscard]] const Fields<Quantity>& quantity_fields(bool zero_allowed);

}  // namespace sextant::inline documents
