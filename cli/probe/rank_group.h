// The ranks of a job that answer one request together: an error on one is an error on all, reported once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "planner/search/islands.h"
#include "probes/comm/communicator.h"
#include "sextant/error.h"

namespace sextant::cli {

// Thrown on every rank if one of them failed.
class FailedOnAll : public Error {
 public:
  FailedOnAll(const Error& error, int rank) : Error(error), rank_(rank) {}
  [[nodiscard]] int rank() const { return rank_; }  // the first that failed

 private:
  int rank_;
};

class RankGroup final : public IslandRanks {
 public:
  // world must outlive it; all ranks construct theirs.
  explicit RankGroup(Communicator& world);

  [[nodiscard]] int rank() const override { return world_.rank(); }
  [[nodiscard]] int size() const override { return world_.size(); }
  [[nodiscard]] bool is_first() const { return rank() == 0; }
  [[nodiscard]] bool is_alone() const { return size() == 1; }
  // The number of ranks with the same cores, including this one.
  [[nodiscard]] int ranks_on_host() const { return ranks_on_host_; }

  // Throws FailedOnAll if a rank reports that it failed. A waiting rank yields its core.
  [[nodiscard]] std::vector<std::string> gather(const std::string& mine) override;

  void tell_next(const std::string& message) override;
  [[nodiscard]] std::vector<std::string> told() override;

  // Runs `part` on every rank. Throws FailedOnAll on all if it throws an Error on any of them; other exceptions
  // pass unchanged.
  template <typename Part>
  auto together(Part part) {
    if (is_alone()) return part();
    try {
      auto result = part();
      (void)gather("");
      return result;
    } catch (const FailedOnAll&) {
      throw;
    } catch (const Error& error) {
      tell(error);
    }
  }

  // Runs `part` on rank 0 while the others wait; returns its exit code on all ranks. With several ranks it
  // reports an Error itself.
  [[nodiscard]] int first_alone(const std::function<int()>& part);

 private:
  [[noreturn]] void tell(const Error& error);
  [[nodiscard]] std::vector<std::string> exchanged(const std::string& mine);

  // A rank that sends to this one.
  struct Teller {
    int rank = 0;
    std::uint64_t frames = 0;  // received
    std::string begun;         // the beginning of a message
  };
  // Adds a message to `whole` if the frame completes it.
  void receive_frame(Teller& teller, std::vector<std::string>& whole);
  void settle(std::span<const double> frames_by_rank);

  Communicator& world_;
  int ranks_on_host_ = 1;
  std::vector<Teller> tellers_;
  std::vector<int> listeners_;     // the ranks to which this one sends
  std::uint64_t told_frames_ = 0;  // sent to each of them
};

// Rank 0 prints the error to stderr; returns the exit code.
int say_failure(const FailedOnAll& failure, const RankGroup& ranks);

}  // namespace sextant::cli
