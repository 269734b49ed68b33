// Pins a thread to one CPU while it measures.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sextant::inline probes {

// CPUs that this thread may run on, ascending.
[[nodiscard]] std::vector<int> allowed_cpus();

// Returns the CPU for the n-th rank of a host: the n-th allowed one, cyclically if there are fewer.
[[nodiscard]] std::optional<int> choose_cpu(const std::vector<int>& allowed, int nth_rank);

// Pins the calling thread and restores its CPUs when destroyed.
class Pinned {
 public:
  explicit Pinned(int nth_rank);
  ~Pinned();
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

  // nullopt if the system refused; the thread then keeps its CPUs.
  [[nodiscard]] std::optional<int> cpu() const { return cpu_; }
  [[nodiscard]] const std::vector<int>& allowed_before() const { return allowed_before_; }

 private:
  std::vector<int> allowed_before_;
  std::optional<int> cpu_;
};

}  // namespace sextant::inline probes
