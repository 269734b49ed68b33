#include "costmodel/timeline.h"

namespace sextant::inline costmodel {

bool share_a_device(const std::set<DeviceId>& a, const std::set<DeviceId>& b) {
  auto left = a.begin();
  auto right = b.begin();
  while (left != a.end() && right != b.end()) {
    if (*left == *right) return true;
    *left < *right ? ++left : ++right;
  }
  return false;
}

}  // namespace sextant::inline costmodel
