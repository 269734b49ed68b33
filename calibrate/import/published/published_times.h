// The times of a published record: which timers of a run its entries are, and which of them were measured for
// it.
#pragma once

#include <set>
#include <string>

#include "calibrate/import/published/published_record.h"
#include "calibrate/import/records/measured_iteration.h"

namespace sextant {

// A time that one source prints for one layout and workload in several rows counts as measured once.
class Repetitions {
 public:
  // Returns whether the time occurred before, and records it.
  bool take(const PublishedRecord& record, const std::string& entry, double time_s);

 private:
  std::set<std::string> seen_;
};

// Sets the timers of the iteration, whose mode is set; times that are dropped are noted.
void set_task_times(const PublishedRecord& record, Repetitions& repetitions, MeasuredIteration& iteration);

// Sets the time of the iteration. Samples replace their mean, here and in the timers set before.
void set_samples(const PublishedRecord& record, MeasuredIteration& iteration);

}  // namespace sextant
