// The tables of fields of the documents' objects.
#pragma once

#include "documents/values/fields.h"
#include "sextant/execution.h"

namespace sextant {

[[nodiscard]] const Fields<Execution>& execution_fields();

}  // namespace sextant
