#include "planner/sha_ea/polish.h"

#include <algorithm>
#include <utility>

#include "planner/space/balance.h"

namespace sextant::inline planner {
namespace {

class Polish {
 public:
  Polish(SearchRun& run, const PolishLimits& limits, std::mt19937_64& random, Scored& scored)
      : run_(run),
        evaluator_(run.evaluator()),
        options_(run.options()),
        limits_(limits),
        random_(random),
        scored_(scored) {}

  void run() {
    scored_.score = noted(evaluator_.evaluate(scored_.candidate));
    for (bool improved = true; improved && !is_over();) {
      improved = try_options();
      if (limits_.balances_load) improved = balance() || improved;
      if (limits_.moves_tasklets) improved = try_swaps() || improved;
    }
    scored_.score = evaluator_.evaluate(scored_.candidate);
  }

 private:
  [[nodiscard]] bool is_over() const { return taken_ >= limits_.evaluations || run_.is_over(); }

  Score noted(const Score& score) {
    ++taken_;
    run_.note(score);
    return score;
  }

  // Accepts or reverts the pending move.
  bool take_if_better() {
    const Score tried = noted(evaluator_.score());
    constexpr double kMinimum = 1e-9;  // relative: less is rounding
    const bool better = tried.is_better_than(scored_.score, kMinimum);
    if (better) {
      evaluator_.keep();
      scored_.score = tried;
      scored_.candidate = evaluator_.current();
    } else {
      evaluator_.undo();
    }
    return better;
  }

  [[nodiscard]] std::vector<std::uint16_t> ascending_devices(int task) const {
    std::vector<std::uint16_t> devices = scored_.candidate.tasks[static_cast<std::size_t>(task)].devices;
    std::sort(devices.begin(), devices.end());
    return devices;
  }

  // A pinned layout stays as it is.
  [[nodiscard]] bool is_fixed(int task) const {
    const SearchRun::Pinned* pinned = run_.pinned(task);
    return pinned != nullptr && pinned->has_layout;
  }

  // Tries each task's other options on its devices, one task after the other.
  bool try_options() {
    bool improved = false;
    for (int task = 0; task < evaluator_.task_count() && !is_over(); ++task) {
      if (is_fixed(task)) continue;
      const std::vector<std::uint16_t> devices = ascending_devices(task);
      const std::vector<Option>& options = options_.of(task, devices);
      (void)evaluator_.evaluate(scored_.candidate);  // the look-up of options changed it
      for (const Option& option : options) {
        if (is_over()) break;
        const Shape& shape = evaluator_.shapes(task).at(option.shape);
        evaluator_.replace_task(task, placed(shape, option.shape, option.order, devices));
        improved = take_if_better() || improved;
      }
    }
    return improved;
  }

  // Random swaps of two tasklets of one task; the number of tries is its number of devices.
  bool try_swaps() {
    bool improved = false;
    for (int task = 0; task < evaluator_.task_count(); ++task) {
      const auto size = evaluator_.placement(task).devices.size();
      if (size < 2 || is_fixed(task)) continue;
      for (std::size_t attempt = 0; attempt < 2 * size && !is_over(); ++attempt) {
        const std::size_t first = random_() % size;
        const std::size_t second = (first + 1 + random_() % (size - 1)) % size;
        evaluator_.swap_positions(task, static_cast<int>(first), static_cast<int>(second));
        improved = take_if_better() || improved;
      }
    }
    return improved;
  }

  // Moves one layer, or a growing number of sequences, from one part of a task to another.
  bool balance() {
    bool improved = false;
    for (int task = 0; task < evaluator_.task_count() && !is_over(); ++task) {
      if (is_fixed(task)) continue;
      improved = shift(task, &Shape::layers, 1) || improved;
      if (!is_over()) improved = deal_by_length(task) || improved;
      const Shape& shape = evaluator_.shapes(task).at(evaluator_.placement(task).shape);
      for (int amount = shape.sequences.front() / 2; amount > 0 && !is_over(); amount /= 2) {
        improved = shift(task, &Shape::sequences, amount) || improved;
      }
    }
    return improved;
  }

  // Assigns longer sequences to faster replicas, by their current times, or reverts to no such assignment.
  bool deal_by_length(int task) {
    const SortedLengths& lengths = evaluator_.sorted_lengths();
    const Shape shape = evaluator_.shapes(task).at(evaluator_.placement(task).shape);
    const auto replicas = evaluator_.replicas(task);
    const TaskKind kind = run_.request().workflow.tasks[static_cast<std::size_t>(task)].kind;
    if (kind == TaskKind::generation || lengths.is_fixed() || shape.data_parallel() < 2 ||
        replicas.size() != shape.sequences.size())
      return false;
    const bool is_packed = evaluator_.execution(task, shape).packed;
    const std::vector<SequenceRange> ranges = length_ranges(shape);
    std::vector<double> rates;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      const double tokens =
          is_packed ? lengths.mean_tokens(ranges[i].first, ranges[i].last) : lengths.longest(ranges[i].last);
      rates.push_back(shape.sequences[i] * tokens / replicas[i]->time_s);
    }
    LengthSplit deal = dealt_by_length(rates, lengths, is_packed);
    Shape dealt = shape;
    dealt.sequences = std::move(deal.sequences);
    dealt.length_ranks = std::move(deal.ranks);
    if (std::count(dealt.length_ranks.begin(), dealt.length_ranks.end(), 0) == shape.data_parallel())
      dealt.length_ranks.clear();
    bool improved = dealt != shape && try_shape(task, dealt);
    if (is_over() || shape.length_ranks.empty()) return improved;
    dealt = evaluator_.shapes(task).at(evaluator_.placement(task).shape);
    dealt.length_ranks.clear();
    return try_shape(task, dealt) || improved;
  }

  bool shift(int task, std::vector<int> Shape::*parts, int amount) {
    bool improved = false;
    const std::size_t count = (evaluator_.shapes(task).at(evaluator_.placement(task).shape).*parts).size();
    for (std::size_t from = 0; from < count; ++from) {
      for (std::size_t to = 0; to < count && !is_over(); ++to) {
        Shape shape = evaluator_.shapes(task).at(evaluator_.placement(task).shape);
        std::vector<int>& dealt = shape.*parts;
        if (from == to || dealt[from] <= amount) continue;
        dealt[from] -= amount;
        dealt[to] += amount;
        improved = try_shape(task, shape) || improved;
      }
    }
    return improved;
  }

  // Tries a shape on the same devices in the same order.
  bool try_shape(int task, const Shape& shape) {
    if (!can_deal(evaluator_.execution(task, shape), shape.layers, !shape.length_ranks.empty())) return false;
    ShapeTable& shapes = evaluator_.shapes(task);
    const int known = shapes.size();
    Placement placement = evaluator_.placement(task);
    placement.shape = shapes.add(shape);
    evaluator_.replace_task(task, placement);
    const bool improved = take_if_better();
    const Candidate* best = run_.best();
    const bool is_best =
        best != nullptr && best->tasks[static_cast<std::size_t>(task)].shape == placement.shape;
    if (!improved && !is_best && placement.shape >= known) shapes.forget(placement.shape);
    return improved;
  }

  SearchRun& run_;
  Evaluator& evaluator_;
  OptionTable& options_;
  const PolishLimits& limits_;
  std::mt19937_64& random_;
  Scored& scored_;
  std::uint64_t taken_ = 0;
};

}  // namespace

void polish(SearchRun& run, const PolishLimits& limits, std::mt19937_64& random, Scored& scored) {
  Polish(run, limits, random, scored).run();
}

}  // namespace sextant::inline planner
