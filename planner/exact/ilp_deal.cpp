#include "planner/exact/ilp_deal.h"

#include <algorithm>

namespace sextant::inline planner {

IlpAssignment::IlpAssignment(UnitSpace& space, MilpProblem& problem) : space_(space), problem_(problem) {
  for (int share = 1; share < space.share_count(); ++share) {
    for (const int block : space.blocks_of(share)) {
      if (share_of_block_.size() <= static_cast<std::size_t>(block))
        share_of_block_.resize(static_cast<std::size_t>(block) + 1);
      share_of_block_[static_cast<std::size_t>(block)] = share;
    }
  }
  add_tasks();
  for (std::size_t c = 0; c < space.classes().size(); ++c) {
    add_runs(c);
    if (is_placed(c)) lay_runs(c);
  }
  add_blocks();
}

void IlpAssignment::add_tasks() {
  for (int t = 0; t < slots(); ++t) {
    in_slot_.emplace_back();
    MilpTerms somewhere;
    for (int g = 0; g <= t; ++g) {
      in_slot_.back().push_back(problem_.add_binary());
      somewhere.push_back({in_slot(t, g), 1});
    }
    problem_.add_row(1, somewhere, 1);
    for (int g = 0; g < t; ++g) problem_.add_row(-kMilpInfinity, {{in_slot(t, g), 1}, {in_slot(g, g), -1}}, 0);
  }
}

// True if options depend on the first unit of a run.
bool IlpAssignment::is_placed(std::size_t c) const {
  const int units = space_.classes()[c].count();
  for (int count = 1; count <= units; ++count) {
    for (int first = count; first + count <= units; ++first) {
      if (space_.canonical(c, {first, count}) != space_.canonical(c, {0, count})) return true;
    }
  }
  return false;
}

// One run per class, empty if the slot is closed; the runs together have at most the units of the class.
void IlpAssignment::add_runs(std::size_t c) {
  const int units = space_.classes()[c].count();
  runs_.emplace_back(static_cast<std::size_t>(slots()));
  MilpTerms taken;
  for (int g = 0; g < slots(); ++g) {
    RunVariables& runs = runs_.back()[static_cast<std::size_t>(g)];
    runs[{0, 0}] = problem_.add_binary();
    for (int count = 1; count <= units; ++count) {
      runs[{0, count}] = problem_.add_binary();
      for (int first = count; is_placed(c) && first + count <= units; ++first)
        runs[{first, count}] = problem_.add_binary();
    }
    const int has = problem_.add_whole(0, units);  // number of units
    MilpTerms one, length{{has, -1}};
    for (const auto& [run, variable] : runs) {
      one.push_back({variable, 1});
      length.push_back({variable, static_cast<double>(run.count)});
    }
    problem_.add_row(1, one, 1);
    problem_.add_row(0, length, 0);
    problem_.add_row(-kMilpInfinity, {{has, 1}, {in_slot(g, g), -static_cast<double>(units)}}, 0);
    taken.push_back({has, 1});
  }
  problem_.add_row(-kMilpInfinity, taken, units);
}

void IlpAssignment::lay_runs(std::size_t c) {
  const int units = space_.classes()[c].count();
  const std::vector<RunVariables>& of_slot = runs_[c];
  // Every unit is in at most one run; lengths do not increase from unit to unit, and there are no gaps.
  std::vector<MilpTerms> covering(static_cast<std::size_t>(units)), length(covering.size());
  for (const RunVariables& runs : of_slot) {
    for (const auto& [run, variable] : runs) {
      for (int unit = run.first; unit < run.first + run.count; ++unit) {
        covering[static_cast<std::size_t>(unit)].push_back({variable, 1});
        length[static_cast<std::size_t>(unit)].push_back({variable, static_cast<double>(run.count)});
      }
    }
  }
  for (std::size_t unit = 0; unit < covering.size(); ++unit) {
    problem_.add_row(-kMilpInfinity, covering[unit], 1);
    if (unit == 0) continue;
    MilpTerms shorter = length[unit - 1];
    for (const MilpTerm& term : length[unit]) shorter.push_back({term.variable, -term.coefficient});
    problem_.add_row(0, shorter, kMilpInfinity);
  }
  // If two runs have the same length, the run of the lower slot comes first.
  for (std::size_t g = 0; g < of_slot.size(); ++g) {
    for (std::size_t h = g + 1; h < of_slot.size(); ++h) {
      for (const auto& [run, variable] : of_slot[h]) {
        MilpTerms later{{variable, 1}};
        for (const auto& [other, of_lower] : of_slot[g]) {
          if (other.count == run.count && run.count > 0 && other.first > run.first)
            later.push_back({of_lower, 1});
        }
        if (later.size() > 1) problem_.add_row(-kMilpInfinity, later, 1);
      }
    }
  }
}

void IlpAssignment::add_blocks() {
  for (int g = 0; g < slots(); ++g) {
    has_block_.emplace_back();
    MilpTerms one{{in_slot(g, g), -1}};
    for (int block = 0; block < blocks(); ++block) {
      has_block_.back().push_back(problem_.add_binary());
      one.push_back({has_block_.back().back(), 1});
    }
    problem_.add_row(0, one, 0);
    for (std::size_t c = 0; c < space_.classes().size(); ++c) link_blocks(g, c);
    keep_pins(g);
  }
}

// A pinned task's slot has the pinned devices, and no other slot has any of them.
void IlpAssignment::keep_pins(int slot) {
  for (int block = 0; block < blocks(); ++block) {
    const int share = share_of_block(block);
    if (space_.may_have(0, share)) continue;
    bool is_whole_pin = false;
    for (int t = 0; t < slots(); ++t) {
      if (space_.pinned_share(t) != share) continue;
      is_whole_pin = true;
      MilpTerms with_task{{has_block(slot, block), 1}};
      if (t >= slot) with_task.push_back({in_slot(t, slot), -1});
      problem_.add_row(-kMilpInfinity, with_task, 0);
    }
    if (!is_whole_pin) problem_.add_row(0, {{has_block(slot, block), 1}}, 0);
  }
  for (int t = slot; t < slots(); ++t) {
    if (space_.pinned_share(t) == 0) continue;
    MilpTerms there{{in_slot(t, slot), 1}};
    for (int block = 0; block < blocks(); ++block) {
      if (share_of_block(block) == space_.pinned_share(t)) there.push_back({has_block(slot, block), -1});
    }
    problem_.add_row(-kMilpInfinity, there, 0);
  }
}

// A block requires the runs that it consists of.
void IlpAssignment::link_blocks(int slot, std::size_t c) {
  std::map<UnitRun, MilpTerms> rows;
  for (int block = 0; block < blocks(); ++block)
    rows[space_.block(block)[c]].push_back({has_block(slot, block), 1});
  for (auto& [looks, terms] : rows) {
    for (const auto& [run, variable] : runs_[c][static_cast<std::size_t>(slot)]) {
      if (space_.canonical(c, run) == looks) terms.push_back({variable, -1});
    }
    problem_.add_row(-kMilpInfinity, terms, 0);
  }
}

std::vector<IlpAssignment::Place> IlpAssignment::places() const {
  std::vector<Place> places;
  for (std::size_t c = 0; c < space_.classes().size(); ++c) {
    if (!is_placed(c)) places.push_back({c, -1});
    for (int unit = 0; is_placed(c) && unit < space_.classes()[c].count(); ++unit) places.push_back({c, unit});
  }
  return places;
}

MilpTerms IlpAssignment::presence(int slot, const Place& place) const {
  MilpTerms terms;
  for (const auto& [run, variable] : runs_[place.of_class][static_cast<std::size_t>(slot)]) {
    const bool is_there =
        place.unit < 0 ? run.count > 0 : run.first <= place.unit && place.unit < run.first + run.count;
    if (is_there) terms.push_back({variable, 1});
  }
  return terms;
}

std::vector<int> IlpAssignment::slots_of(const TaskGrouping& grouping) {
  std::vector<int> slots(static_cast<std::size_t>(grouping.groups), 0);
  for (std::size_t t = grouping.group_of.size(); t-- > 0;)
    slots[static_cast<std::size_t>(grouping.group_of[t])] = static_cast<int>(t);
  return slots;
}

void IlpAssignment::fix_groups(const IlpGroups& groups) {
  const std::vector<int> slots_of_groups = slots_of(groups.grouping);
  for (int t = 0; t < slots(); ++t) {
    const auto group = static_cast<std::size_t>(groups.grouping.group_of[static_cast<std::size_t>(t)]);
    problem_.add_row(1, {{in_slot(t, slots_of_groups[group]), 1}}, 1);
  }
  for (std::size_t group = 0; group < groups.units.size(); ++group) {
    MilpTerms units;
    for (const std::vector<RunVariables>& of_class : runs_) {
      for (const auto& [run, variable] : of_class[static_cast<std::size_t>(slots_of_groups[group])]) {
        if (run.count > 0) units.push_back({variable, static_cast<double>(run.count)});
      }
    }
    problem_.add_row(groups.units[group], units, groups.units[group]);
  }
}

// The runs of a choice in a class, by slot.
std::vector<UnitRun> IlpAssignment::taken_runs(const UnitChoice& choice, std::size_t c) const {
  const std::vector<int> slots = slots_of(choice.grouping);
  std::vector<UnitRun> taken(runs_[c].size());
  int next = 0;
  for (const std::size_t group : space_.order_in_class(choice.shares, c)) {
    const int count = space_.units_of(choice.shares[group], c);
    const int first = is_placed(c) && count > 0 ? next : 0;
    taken[static_cast<std::size_t>(slots[group])] = {first, count};
    next += count;
  }
  return taken;
}

std::vector<int> IlpAssignment::runs_of(const UnitChoice& choice, int slot) const {
  std::vector<int> variables;
  for (std::size_t c = 0; c < runs_.size(); ++c) {
    const auto g = static_cast<std::size_t>(slot);
    variables.push_back(runs_[c][g].at(taken_runs(choice, c)[g]));
  }
  return variables;
}

std::vector<MilpValue> IlpAssignment::values_of(const UnitChoice& choice) const {
  std::vector<MilpValue> values;
  const std::vector<int> slots = slots_of(choice.grouping);
  for (int t = 0; t < space_.tasks(); ++t) {
    const int group = choice.grouping.group_of[static_cast<std::size_t>(t)];
    for (int g = 0; g <= t; ++g)
      values.push_back({in_slot(t, g), g == slots[static_cast<std::size_t>(group)] ? 1.0 : 0.0});
  }
  for (std::size_t c = 0; c < runs_.size(); ++c) {
    const std::vector<UnitRun> taken = taken_runs(choice, c);
    for (std::size_t g = 0; g < runs_[c].size(); ++g) {
      for (const auto& [run, variable] : runs_[c][g]) values.push_back({variable, run == taken[g] ? 1.0 : 0.0});
    }
  }
  const std::vector<int> blocks = space_.blocks_of_deal(choice.shares);
  for (std::size_t group = 0; group < blocks.size(); ++group)
    values.push_back({has_block(slots[group], blocks[group]), 1});
  return values;
}

}  // namespace sextant::inline planner
