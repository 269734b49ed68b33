#include "planner/request/counts.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace sextant::inline planner {

double binomial(int n, int k) {
  if (k < 0 || k > n) return 0;
  double out = 1;
  // Whole after every step: a product of i consecutive numbers is divisible by i!.
  for (int i = 1; i <= std::min(k, n - k); ++i) out = out * (n - std::min(k, n - k) + i) / i;
  return out;
}

double partitions_into(int n, int k) {
  // S(n, k) = k S(n - 1, k) + S(n - 1, k - 1).
  std::vector<double> row(static_cast<std::size_t>(std::max(n, k)) + 1, 0.0);
  row[0] = 1;
  for (int i = 1; i <= n; ++i) {
    for (int j = i; j >= 1; --j) {
      const auto at = static_cast<std::size_t>(j);
      row[at] = j * row[at] + row[at - 1];
    }
    row[0] = 0;
  }
  return k < 0 ? 0 : row[static_cast<std::size_t>(k)];
}

double bell_number(int n) {
  double out = 0;
  for (int k = 0; k <= n; ++k) out += partitions_into(n, k);
  return out;
}

double group_size_count(int gpus, int groups) { return binomial(gpus - 1, groups - 1); }

double assignment_count(const std::vector<int>& sizes) {
  double out = 1;
  int dealt = 0;
  for (const int size : sizes) out *= binomial(dealt += size, size);
  return out;
}

double degree_count(int gpus) {
  double out = 0;
  for (int i = 1; i <= gpus; ++i) {
    for (int j = 1; i * j <= gpus; ++j) {
      const int largest = gpus / (i * j);  // k
      out += largest;
    }
  }
  return out;
}

double mapping_count(int gpus, int tasklets) { return std::pow(gpus, tasklets); }

double arm_count(int tasks, int gpus) {
  double out = 0;
  for (int groups = 1; groups <= tasks; ++groups) {
    out += partitions_into(tasks, groups) * group_size_count(gpus, groups);
  }
  return out;
}

}  // namespace sextant::inline planner
