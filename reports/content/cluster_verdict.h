// The measured rates of a cluster beside those that its hardware should reach.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/content/content.h"

namespace sextant::inline reports {

// A measured rate as a share of the datasheet's.
struct RateShare {
  std::string what;  // "H200 bf16 matrix products"
  Cell measured;
  double share = 0;
  // The range that the best published matrix products of the vendor's GPUs reach.
  std::optional<double> usual_low, usual_high;
  bool is_low = false;
};

struct ClusterVerdict {
  std::string sentence;
  std::vector<RateShare> rates;
  std::vector<std::string> odd;  // a sentence for each slow part
};

}  // namespace sextant::inline reports
