// The ranks of a job that answer one question together: what fails on one fails on all, and is said once.
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

// Thrown on every rank where one of them failed.
class FailedOnAll : public Error {
 public:
  FailedOnAll(const Error& error, int rank) : Error(error), rank_(rank) {}
  [[nodiscard]] int rank() const { return rank_; }  // the first that did

 private:
  int rank_;
};

class RankGroup final : public IslandRanks {
 public:
  // world must outlive it; all ranks make theirs.
  explicit RankGroup(Communicator& world);

  [[nodiscard]] int rank() const override { return world_.rank(); }
  [[nodiscard]] int size() const override { return world_.size(); }
  [[nodiscard]] bool is_first() const { return rank() == 0; }
  [[nodiscard]] bool is_alone() const { return size() == 1; }
  // This one and others that have the same cores.
  [[nodiscard]] int ranks_on_host() const { return ranks_on_host_; }

  // Throws FailedOnAll where a rank says that it failed. Whoever waits leaves its core to others.
  [[nodiscard]] std::vector<std::string> gather(const std::string& mine) override;

  void tell_next(const std::string& message) override;
  [[nodiscard]] std::vector<std::string> told() override;

  // A part that every rank does. Throws FailedOnAll where it throws an Error on any of them; what one rank
  // alone throws stays as it is.
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

  // What rank 0 does while the others wait; on all ranks its exit code. Of several ranks it says an Error
  // itself.
  [[nodiscard]] int first_alone(const std::function<int()>& part);

 private:
  [[noreturn]] void tell(const Error& error);
  [[nodiscard]] std::vector<std::string> exchanged(const std::string& mine);

  // A rank that tells this one.
  struct Teller {
    int rank = 0;
    std::uint64_t frames = 0;  // that came
    std::string begun;         // of a message
  };
  // Where it makes a message whole, that is added.
  void receive_frame(Teller& teller, std::vector<std::string>& whole);
  void settle(std::span<const double> frames_by_rank);

  Communicator& world_;
  int ranks_on_host_ = 1;
  std::vector<Teller> tellers_;
  std::vector<int> listeners_;     // whom this one tells
  std::uint64_t told_frames_ = 0;  // to each of them
};

// The line on stderr, by rank 0 alone; the exit code.
int say_failure(const FailedOnAll& failure, const RankGroup& ranks);

}  // namespace sextant::cli
