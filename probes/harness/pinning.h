// Keeps a thread on one CPU while it measures.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sextant {

// CPUs that this thread may run on, ascending.
[[nodiscard]] std::vector<int> allowed_cpus();

// Which of the allowed CPUs the n-th rank of a host takes: the n-th, starting again when there are fewer.
[[nodiscard]] std::optional<int> choose_cpu(const std::vector<int>& allowed, int nth_rank);

// Pins the calling thread and gives it its CPUs back when destroyed.
class Pinned {
 public:
  explicit Pinned(int nth_rank);
  ~Pinned();
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

  // Nothing when the system refused; the thread then runs where it did before.
  [[nodiscard]] std::optional<int> cpu() const { return cpu_; }
  [[nodiscard]] const std::vector<int>& allowed_before() const { return allowed_before_; }

 private:
  std::vector<int> allowed_before_;
  std::optional<int> cpu_;
};

}  // namespace sextant
