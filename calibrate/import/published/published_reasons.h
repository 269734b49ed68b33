// Reasons to leave out a published record, and values that it states only indirectly.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibrate/import/published/published_record.h"
#include "calibrate/import/records/facts.h"

namespace sextant {

// Returns the printed GPU, or the class whose peak the framework divides by; empty if neither is stated.
[[nodiscard]] std::string gpu_name(const PublishedRecord& record);

// Returns the responses of an iteration; nullopt if the record does not state them, or states two values.
[[nodiscard]] std::optional<int> sequences_of(const PublishedRecord& record);

// "a, b, c"
[[nodiscard]] std::string listed(const std::vector<std::string>& things);

// Empty if the record can become a run. `records` are all of its file: one may repeat another.
[[nodiscard]] std::string reason_against(const PublishedRecord& record,
                                         const std::vector<PublishedRecord>& records, const Facts& facts);

}  // namespace sextant
