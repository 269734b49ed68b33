#include "planner/sha_ea/local_steps.h"

#include <algorithm>

namespace sextant::inline planner {
namespace {

class Steps {
 public:
  Steps(const DeviceSets& sharing, ClimbedSets rule) : sharing_(sharing), sets_(sharing.sets()), rule_(rule) {}

  std::vector<Step> all() {
    const int tasks = static_cast<int>(sharing_.set_of.size());
    for (int a = 0; a < tasks; ++a) {
      add({.kind = Step::Kind::take_half, .a = a});
      add({.kind = Step::Kind::take_half, .a = a, .is_alone = true});
      add({.kind = Step::Kind::take_all, .a = a});
      take_parts(a);
      for (int b = 0; b < tasks; ++b) {
        if (set_of(a) != set_of(b)) relate(a, b);
      }
    }
    for (std::size_t c = 0; c < sharing_.regions.size(); ++c) {
      for (const Region& region : sharing_.regions[c]) change_region(c, region);
    }
    return std::move(found_);
  }

 private:
  [[nodiscard]] int set_of(int task) const { return sharing_.set_of[static_cast<std::size_t>(task)]; }
  [[nodiscard]] bool is_first_of_set(int task) const {
    const auto end = sharing_.set_of.begin() + task;
    return std::find(sharing_.set_of.begin(), end, set_of(task)) == end;
  }
  void add(const Step& step) { found_.push_back(step); }

  void relate(int a, int b) {
    add({.kind = Step::Kind::take_union, .a = a, .b = b});
    add({.kind = Step::Kind::take_difference, .a = a, .b = b});
    add({.kind = Step::Kind::join, .a = a, .b = b});
    if (a > b) return;
    add({.kind = Step::Kind::exchange_tasks, .a = a, .b = b});
    if (rule_ == ClimbedSets::disjoint && is_first_of_set(a) && is_first_of_set(b))
      add({.kind = Step::Kind::merge, .a = a, .b = b});
  }

  void take_parts(int a) {
    for (std::size_t c = 0; c < sharing_.regions.size(); ++c) {
      add({.kind = Step::Kind::take_class, .a = a, .unit_class = c});
      for (const Region& region : sharing_.regions[c]) {
        for (const int units : amounts(region.units)) {
          for (const bool is_alone : {false, true})
            add({.kind = Step::Kind::take_region,
                 .a = a,
                 .is_alone = is_alone,
                 .unit_class = c,
                 .from = region.sets,
                 .units = units});
        }
      }
    }
  }

  // One unit, half of the units, or all.
  static std::vector<int> amounts(int units) {
    std::vector<int> amounts = {1};
    if (units > 3) amounts.push_back(units / 2);
    if (units > 1) amounts.push_back(units);
    return amounts;
  }

  void change_region(std::size_t unit_class, const Region& region) {
    for (const SetMask to : masks_near(region.sets)) {
      for (const int units : amounts(region.units))
        add({.kind = Step::Kind::move_units,
             .unit_class = unit_class,
             .from = region.sets,
             .to = to,
             .units = units});
    }
    for (std::size_t other = unit_class + 1; other < sharing_.regions.size(); ++other) {
      for (const Region& of_other : sharing_.regions[other]) {
        if (of_other.sets == region.sets) continue;
        add({.kind = Step::Kind::exchange_units,
             .unit_class = unit_class,
             .other_class = other,
             .from = region.sets,
             .to = of_other.sets});
      }
    }
  }

  // No set, one set more or less, one set replaced, or the sets of other units.
  [[nodiscard]] std::vector<SetMask> masks_near(SetMask sets) const {
    std::vector<SetMask> masks = {0};  // idle
    for (int s = 0; s < sets_; ++s) {
      masks.push_back(sets ^ bit(s));
      for (int other = 0; other < sets_; ++other) {
        if ((sets & bit(s)) != 0 && (sets & bit(other)) == 0) masks.push_back((sets ^ bit(s)) | bit(other));
      }
    }
    for (const std::vector<Region>& of_class : sharing_.regions) {
      for (const Region& region : of_class) masks.push_back(region.sets);
    }
    std::sort(masks.begin(), masks.end());
    masks.erase(std::unique(masks.begin(), masks.end()), masks.end());
    std::erase(masks, sets);
    return masks;
  }

  const DeviceSets& sharing_;
  int sets_;
  ClimbedSets rule_;
  std::vector<Step> found_;
};

// Assembles a task's new set region by region.
class Taking {
 public:
  Taking(const Step& step, const DeviceSets& sharing)
      : step_(step), before_(sharing), after_(sharing), own_(set_bit(step.a)), new_(bit(sharing.sets())) {
    after_.set_of[static_cast<std::size_t>(step.a)] = sharing.sets();
  }

  DeviceSets done() {
    for (std::size_t c = 0; c < before_.regions.size(); ++c) {
      for (const Region& region : before_.regions[c]) {
        const int units = units_of(c, region);
        if (units > 0) move_units(after_, c, region.sets, step_.is_alone ? new_ : region.sets | new_, units);
      }
    }
    return std::move(after_);
  }

 private:
  [[nodiscard]] SetMask set_bit(int task) const { return bit(before_.set_of[static_cast<std::size_t>(task)]); }

  [[nodiscard]] int units_of(std::size_t unit_class, const Region& region) const {
    const bool is_own = (region.sets & own_) != 0;
    const bool is_of_b = (region.sets & set_bit(step_.b)) != 0;
    bool takes = true;
    switch (step_.kind) {
      case Step::Kind::take_half:
        return is_own ? region.units / 2 : 0;
      case Step::Kind::take_region:
        return unit_class == step_.unit_class && region.sets == step_.from ? step_.units : 0;
      case Step::Kind::take_class:
        takes = unit_class == step_.unit_class;
        break;
      case Step::Kind::take_union:
        takes = is_own || is_of_b;
        break;
      case Step::Kind::take_difference:
        takes = is_own && !is_of_b;
        break;
      default:
        break;
    }
    return takes ? region.units : 0;
  }

  const Step& step_;
  const DeviceSets& before_;
  DeviceSets after_;
  SetMask own_, new_;
};

// All units of either set belong to both, which are then merged.
void merge(DeviceSets& sharing, int set, int other) {
  for (std::vector<Region>& of_class : sharing.regions) {
    for (Region& region : of_class) {
      if ((region.sets & (bit(set) | bit(other))) != 0) region.sets |= bit(set) | bit(other);
    }
  }
}

}  // namespace

std::vector<Step> steps_from(const DeviceSets& sharing, ClimbedSets sets, std::mt19937_64& random) {
  std::vector<Step> all = Steps(sharing, sets).all();
  for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[random() % i]);
  return all;
}

std::optional<DeviceSets> applied(const Step& step, const DeviceSets& sharing) {
  DeviceSets after = sharing;
  const auto a = static_cast<std::size_t>(step.a), b = static_cast<std::size_t>(step.b);
  switch (step.kind) {
    case Step::Kind::join:
      after.set_of[a] = after.set_of[b];
      break;
    case Step::Kind::merge:
      merge(after, after.set_of[a], after.set_of[b]);
      break;
    case Step::Kind::exchange_tasks:
      std::swap(after.set_of[a], after.set_of[b]);
      break;
    case Step::Kind::move_units:
      move_units(after, step.unit_class, step.from, step.to, step.units);
      break;
    case Step::Kind::exchange_units:
      move_units(after, step.unit_class, step.from, step.to, 1);
      move_units(after, step.other_class, step.to, step.from, 1);
      break;
    default:
      if (sharing.sets() >= kMaxSets) return std::nullopt;
      after = Taking(step, sharing).done();
      break;
  }
  if (!has_no_empty_set(after)) return std::nullopt;
  after = normalized(after);
  if (after == sharing) return std::nullopt;
  return after;
}

void climb(DeviceSets& sharing, ClimbedSets sets, std::mt19937_64& random,
           const std::function<bool(const DeviceSets&)>& look, const std::function<bool()>& is_over) {
  for (bool improved = true; improved;) {
    improved = false;
    for (const Step& step : steps_from(sharing, sets, random)) {
      if (is_over()) return;
      std::optional<DeviceSets> other = applied(step, sharing);
      if (!other || !look(*other)) continue;
      sharing = *std::move(other);
      improved = true;
      break;
    }
  }
}

}  // namespace sextant::inline planner
