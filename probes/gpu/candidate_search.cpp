#include "probes/gpu/candidate_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "sextant/statistics.h"

namespace sextant::inline probes {
namespace {

constexpr int kRounds = 3;
// A candidate that was this much slower than the best in a round is not timed again.
constexpr double kStillInTheRace = 1.1;
constexpr int kMaxRepeats = 1000;

class Race {
 public:
  Race(std::size_t candidates, const TimeCandidate& time, double min_s)
      : time_(time), min_s_(min_s), times_s_(candidates), is_out_(candidates) {}

  // The time of the candidate in this round; infinite if it fails.
  double run(std::size_t candidate, bool is_first_round) {
    if (is_first_round) static_cast<void>(time_once(candidate));  // loads the kernel
    const double once_s = is_first_round ? time_once(candidate) : median(times_s_[candidate]);
    const double took_s = is_out_[candidate] ? kNever_s : time_of(candidate, repeats_for(once_s));
    if (!is_out_[candidate]) times_s_[candidate].push_back(took_s);
    return took_s;
  }
  void drop_slower_than(double best_s) {
    for (std::size_t at = 0; at < times_s_.size(); ++at) {
      is_out_[at] = is_out_[at] || times_s_[at].empty() || median(times_s_[at]) > kStillInTheRace * best_s;
    }
  }
  [[nodiscard]] bool is_out(std::size_t candidate) const { return is_out_[candidate]; }
  [[nodiscard]] CandidateChoice choice() const {
    CandidateChoice choice;
    double best_s = kNever_s;
    for (std::size_t at = 0; at < times_s_.size(); ++at) {
      if (times_s_[at].empty()) continue;
      ++choice.tried;
      const double took_s = median(times_s_[at]);
      if (took_s >= best_s) continue;
      best_s = took_s;
      choice.chosen = at;
    }
    return choice;
  }

  static constexpr double kNever_s = std::numeric_limits<double>::infinity();

 private:
  double time_of(std::size_t candidate, int repeats) {
    const std::optional<double> took_s = time_(candidate, repeats);
    if (took_s) return *took_s;
    is_out_[candidate] = true;
    times_s_[candidate].clear();  // one that fails now and then is not to be trusted
    return kNever_s;
  }
  double time_once(std::size_t candidate) { return is_out_[candidate] ? kNever_s : time_of(candidate, 1); }
  [[nodiscard]] int repeats_for(double once_s) const {
    return static_cast<int>(std::clamp(std::ceil(min_s_ / once_s), 1.0, 1.0 * kMaxRepeats));
  }

  const TimeCandidate& time_;
  double min_s_;
  std::vector<std::vector<double>> times_s_;
  std::vector<bool> is_out_;
};

}  // namespace

CandidateChoice find_fastest(std::size_t candidates, const TimeCandidate& time, double min_s, double budget_s,
                             const Clock& clock) {
  const double start_s = clock.now_s();
  Race race(candidates, time, min_s);
  for (int round = 0; round < kRounds; ++round) {
    double best_s = Race::kNever_s;
    for (std::size_t at = 0; at < candidates; ++at) {
      const bool is_late = clock.now_s() - start_s > budget_s;
      if (race.is_out(at) || (is_late && at + static_cast<std::size_t>(round) > 0)) continue;
      best_s = std::min(best_s, race.run(at, round == 0));
    }
    race.drop_slower_than(best_s);
  }
  return race.choice();
}

}  // namespace sextant::inline probes
