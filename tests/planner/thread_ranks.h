// Ranks that are threads of the test; they stand for the processes of a search.
#pragma once

#include <barrier>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "planner/search/islands.h"

namespace sextant::test {

class ThreadRanks {
 public:
  explicit ThreadRanks(int ranks)
      : said_(static_cast<std::size_t>(ranks)), told_(static_cast<std::size_t>(ranks)), all_(ranks) {}

  // The result of every rank.
  std::vector<PlanResult> run(const std::function<PlanResult(IslandRanks&)>& search) {
    std::vector<PlanResult> results(said_.size());
    std::vector<std::jthread> threads;
    for (std::size_t r = 0; r < said_.size(); ++r) {
      threads.emplace_back([&, r] {
        Member member(*this, static_cast<int>(r));
        results[r] = search(member);
      });
    }
    threads.clear();
    return results;
  }
  [[nodiscard]] const std::vector<std::string>& said() const { return said_; }
  // Number of messages that ranks sent during the search.
  [[nodiscard]] int messages() const { return messages_; }

 private:
  class Member final : public IslandRanks {
   public:
    Member(ThreadRanks& job, int rank) : job_(job), rank_(rank) {}
    [[nodiscard]] int rank() const override { return rank_; }
    [[nodiscard]] int size() const override { return static_cast<int>(job_.said_.size()); }
    [[nodiscard]] std::vector<std::string> gather(const std::string& mine) override {
      job_.said_[static_cast<std::size_t>(rank_)] = mine;
      job_.all_.arrive_and_wait();
      std::vector<std::string> all = job_.said_;
      job_.all_.arrive_and_wait();
      return all;
    }
    void tell_next(const std::string& message) override {
      const std::scoped_lock lock(job_.telling_);
      ++job_.messages_;
      job_.told_[static_cast<std::size_t>((rank_ + 1) % size())].push_back(message);
    }
    [[nodiscard]] std::vector<std::string> told() override {
      const std::scoped_lock lock(job_.telling_);
      return std::exchange(job_.told_[static_cast<std::size_t>(rank_)], {});
    }

   private:
    ThreadRanks& job_;
    int rank_;
  };

  std::vector<std::string> said_;
  std::vector<std::vector<std::string>> told_;  // by rank
  std::mutex telling_;
  int messages_ = 0;
  std::barrier<> all_;
};

}  // namespace sextant::test
