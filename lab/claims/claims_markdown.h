// The accuracy figures as a page for people: docs/accuracy.md.
#pragma once

#include <string>

#include "lab/claims/claims.h"

namespace sextant::inline lab {

// Returns the protocol of every figure, its value and threshold, and the records that fit worst.
[[nodiscard]] std::string claims_as_markdown(const ClaimReport& report);

}  // namespace sextant::inline lab
