// The size of each level of HetRL's search (section 3.2, "Search space analysis"), and of its upper levels
// after machines that are alike are merged.
//
// Counts are doubles: exact up to 2^53, with relative rounding errors beyond.
#pragma once

#include <vector>

namespace sextant::inline planner {

// Level 1: partitions of a set of n, and those with exactly k parts (Stirling, second kind).
[[nodiscard]] double bell_number(int n);
[[nodiscard]] double partitions_into(int n, int k);

[[nodiscard]] double binomial(int n, int k);

// Level 2: sizes of `groups` groups of `gpus` GPUs, none empty: C(N-1, T-1).
[[nodiscard]] double group_size_count(int gpus, int groups);

// Level 3: the choices of GPUs for given group sizes: N! / prod n_t!.
[[nodiscard]] double assignment_count(const std::vector<int>& sizes);

// Level 4: degrees (i, j, k) of one task with i j k <= gpus.
[[nodiscard]] double degree_count(int gpus);

// Level 5: ways to map `tasklets` tasklets of a task to the GPUs of its group.
[[nodiscard]] double mapping_count(int gpus, int tasklets);

// Arms of the two levels of successive halving: groupings of `tasks` tasks times sizes of their groups. With
// machines instead of GPUs it counts groups of whole machines.
[[nodiscard]] double arm_count(int tasks, int gpus);

}  // namespace sextant::inline planner
