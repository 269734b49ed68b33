// How large each level of HetRL's search is (section 3.2, "Search space analysis"), and what is left of the
// upper levels where machines are merged.
//
// Counts are doubles: exact up to 2^53, and to their relative rounding beyond.
#pragma once

#include <vector>

namespace sextant {

// Level 1: partitions of a set of n, and those with exactly k parts (Stirling, second kind).
[[nodiscard]] double bell_number(int n);
[[nodiscard]] double partitions_into(int n, int k);

[[nodiscard]] double binomial(int n, int k);

// Level 2: sizes of `groups` groups of `gpus` GPUs, none empty: C(N-1, T-1).
[[nodiscard]] double group_size_count(int gpus, int groups);

// Level 3: which GPUs, given the sizes: N! / prod n_t!.
[[nodiscard]] double assignment_count(const std::vector<int>& sizes);

// Level 4: degrees (i, j, k) with i j k <= gpus, of one task.
[[nodiscard]] double degree_count(int gpus);

// Level 5: ways to map `tasklets` tasklets of a task to the GPUs of its group.
[[nodiscard]] double mapping_count(int gpus, int tasklets);

// Arms of the two levels of successive halving: groupings of `tasks` tasks times sizes of their groups. With
// machines in place of GPUs: groups that are cut at the borders of machines.
[[nodiscard]] double arm_count(int tasks, int gpus);

}  // namespace sextant
