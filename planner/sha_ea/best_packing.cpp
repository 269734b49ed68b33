#include "planner/sha_ea/best_packing.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace sextant::inline planner {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();
constexpr std::size_t kMaxPoints = 2048;  // of a front; more are thinned out

struct Item {
  double resident_bytes = 0, working_bytes = 0, time_s = 0;
  const Option* option = nullptr;
};

// Options of the first tasks together.
struct Point {
  double resident_bytes = 0, time_s = 0;
  std::size_t before = 0;  // in the front of one task less
  const Option* option = nullptr;
};

// Sorted by time: the items under the cap that need less than all faster ones.
std::vector<Item> under(double cap_bytes, const std::vector<Item>& items) {
  std::vector<Item> kept;
  double minimum = kNone;
  for (const Item& item : items) {
    if (item.working_bytes > cap_bytes || item.resident_bytes >= minimum) continue;
    minimum = item.resident_bytes;
    kept.push_back(item);
  }
  return kept;
}

// Keeps the points that need less than all faster ones; thinned out evenly if there are too many.
void keep_front(std::vector<Point>& points) {
  std::sort(points.begin(), points.end(), [](const Point& a, const Point& b) {
    return a.time_s != b.time_s ? a.time_s < b.time_s : a.resident_bytes < b.resident_bytes;
  });
  double minimum = kNone;
  std::erase_if(points, [&](const Point& point) {
    if (point.resident_bytes >= minimum) return true;
    minimum = point.resident_bytes;
    return false;
  });
  if (points.size() <= kMaxPoints) return;
  std::vector<Point> thin;
  for (std::size_t i = 0; i < kMaxPoints; ++i)
    thin.push_back(points[i * (points.size() - 1) / (kMaxPoints - 1)]);
  points = std::move(thin);
}

// The tasks of one corner. Tasks run one after another, so that the resident bytes of all and the largest
// working bytes must fit: for each cap of the working bytes, a front of resident bytes and time is extended by
// one task after the other.
class CornerPacking {
 public:
  CornerPacking(const Corner& corner, const OptionLists& options) : free_bytes_(corner.free_memory_bytes) {
    for (const std::size_t task : corner.tasks) {
      std::vector<Item>& items = items_.emplace_back();
      for (const Option& option : *options[task]) {
        const MemoryNeeds needs = option.needs_on(corner.type);
        items.push_back({needs.resident_bytes, needs.working_bytes, option.value.time_s, &option});
        caps_.insert(needs.working_bytes);
      }
      std::stable_sort(items.begin(), items.end(),
                       [](const Item& a, const Item& b) { return a.time_s < b.time_s; });
    }
  }

  // The options of the tasks of the corner; empty if nothing fits.
  [[nodiscard]] std::vector<const Option*> best() {
    for (auto cap = caps_.rbegin(); cap != caps_.rend(); ++cap) {
      if (*cap < free_bytes_ && !look_under(*cap)) break;
    }
    return best_;
  }

 private:
  // False if no smaller cap can have better options.
  bool look_under(double cap_bytes) {
    std::vector<std::vector<Item>> lists;
    std::vector<double> time_left{0}, bytes_left{0};  // minimum of the last tasks
    for (const std::vector<Item>& items : items_) {
      lists.push_back(under(cap_bytes, items));
      if (lists.back().empty()) return false;
    }
    for (std::size_t i = lists.size(); i-- > 0;) {
      time_left.push_back(time_left.back() + lists[i].front().time_s);
      bytes_left.push_back(bytes_left.back() + lists[i].back().resident_bytes);
    }
    if (time_left.back() >= best_s_) return false;
    const double room_bytes = free_bytes_ - cap_bytes;
    std::vector<std::vector<Point>> fronts{{Point{}}};
    for (std::size_t i = 0; i < lists.size(); ++i) {
      std::vector<Point> next;
      const std::size_t left = lists.size() - i - 1;
      for (std::size_t before = 0; before < fronts.back().size(); ++before) {
        const Point& point = fronts.back()[before];
        for (const Item& item : lists[i]) {
          if (point.time_s + item.time_s + time_left[left] >= best_s_) break;
          if (point.resident_bytes + item.resident_bytes + bytes_left[left] > room_bytes) continue;
          next.push_back(
              {point.resident_bytes + item.resident_bytes, point.time_s + item.time_s, before, item.option});
        }
      }
      if (next.empty()) return true;
      keep_front(next);
      fronts.push_back(std::move(next));
    }
    take(fronts);
    return true;
  }

  void take(const std::vector<std::vector<Point>>& fronts) {
    best_s_ = fronts.back().front().time_s;
    best_.assign(items_.size(), nullptr);
    std::size_t at = 0;
    for (std::size_t i = items_.size(); i-- > 0;) {
      const Point& point = fronts[i + 1][at];
      best_[i] = point.option;
      at = point.before;
    }
  }

  double free_bytes_;
  std::vector<std::vector<Item>> items_;  // by task of the corner, fastest first
  std::set<double> caps_;
  double best_s_ = kNone;
  std::vector<const Option*> best_;
};

// Corners with the same tasks and type as one, with the smallest free memory; empty if a task is in several.
std::vector<Corner> separate(const std::vector<Corner>& corners) {
  std::map<std::pair<int, std::vector<std::size_t>>, double> free_bytes;
  for (const Corner& corner : corners) {
    std::vector<std::size_t> tasks = corner.tasks;
    std::sort(tasks.begin(), tasks.end());
    double& bytes =
        free_bytes.try_emplace({corner.type, std::move(tasks)}, corner.free_memory_bytes).first->second;
    bytes = std::min(bytes, corner.free_memory_bytes);
  }
  std::vector<Corner> joined;
  std::set<std::size_t> seen;
  for (const auto& [key, bytes] : free_bytes) {
    for (const std::size_t task : key.second) {
      if (!seen.insert(task).second) return {};
    }
    joined.push_back({bytes, key.first, key.second});
  }
  return joined;
}

}  // namespace

bool choose_best_fitting(const std::vector<Corner>& corners, const OptionLists& options,
                         ChosenOptions& chosen) {
  const std::vector<Corner> joined = separate(corners);
  if (joined.empty()) return false;
  ChosenOptions best = chosen;
  for (const Corner& corner : joined) {
    const std::vector<const Option*> of_corner = CornerPacking(corner, options).best();
    if (of_corner.empty()) return false;
    for (std::size_t i = 0; i < of_corner.size(); ++i) best[corner.tasks[i]] = of_corner[i];
  }
  chosen = std::move(best);
  return true;
}

}  // namespace sextant::inline planner
