#include "planner/exact/ilp_model.h"

#include <algorithm>
#include <set>

#include "sextant/error.h"

namespace sextant::inline planner {
namespace {

constexpr double kGigabyte = 1e9;  // rows in bytes would differ too much in scale from the others

}  // namespace

IlpModel::IlpModel(UnitSpace& space, const SyncCost& sync, const IlpReduction* reduction)
    : space_(space), parts_of_sync_(sync), deal_(space, problem_) {
  if (!sync.decomposes()) {
    throw_bad_input(
        "the integer program knows the shortest way to synchronize weights, of tasks whose replicas "
        "do not share weights or experts; branch and bound plans the others");
  }
  for (int t = 0; t < space.tasks(); ++t) {
    add_strategies(t, reduction);
    horizon_s_ += max_of_strategies(t, [](const ExactOption& option) { return option.value.time_s; });
  }
  for (int slot = 0; slot < deal_.slots(); ++slot) {
    for (int block = 0; block < deal_.blocks(); ++block) add_memory(slot, block);
  }
  add_times();
  add_phases();
  add_transfers();
}

TaskKind IlpModel::kind_of(int task) const {
  return space_.request().workflow.tasks[static_cast<std::size_t>(task)].kind;
}

template <typename Value>
MilpTerms IlpModel::sum_over_strategies(int task, Value value) const {
  MilpTerms terms;
  for (const Strategy& strategy : strategies_[static_cast<std::size_t>(task)])
    terms.push_back({strategy.variable, value(*strategy.option)});
  return terms;
}

template <typename Value>
double IlpModel::max_of_strategies(int task, Value value) const {
  double maximum = 0;
  for (const Strategy& strategy : strategies_[static_cast<std::size_t>(task)])
    maximum = std::max(maximum, value(*strategy.option));
  return maximum;
}

// One strategy per task: of its slot, on the slot's block.
void IlpModel::add_strategies(int task, const IlpReduction* reduction) {
  std::vector<Strategy>& strategies = strategies_.emplace_back();
  for (int slot = 0; slot <= task; ++slot) {
    MilpTerms of_slot{{deal_.in_slot(task, slot), -1}};
    for (int block = 0; block < deal_.blocks(); ++block) {
      MilpTerms of_block{{deal_.has_block(slot, block), -1}};
      const std::vector<ExactOption>& options = space_.options(task, block);
      const std::size_t kept = reduction != nullptr ? reduction->kept(task, block) : options.size();
      for (std::size_t o = 0; o < kept; ++o) {
        const ExactOption& option = options[o];
        strategies.push_back({slot, block, &option, problem_.add_binary()});
        of_block.push_back({strategies.back().variable, 1});
        of_slot.push_back({strategies.back().variable, 1});
      }
      // The first task of a slot is always in it.
      problem_.add_row(slot == task ? 0 : -kMilpInfinity, of_block, 0);
    }
    problem_.add_row(0, of_slot, 0);
  }
}

// C3 (HetRL 3.1): on every device the states of all tasks plus the maximum working set, with one row per task
// whose working set may be the maximum. Equal and trivial rows are left out.
void IlpModel::add_memory(int slot, int block) {
  const std::vector<double>& rooms = space_.rooms_of_block(block);
  std::vector<std::vector<const Strategy*>> here(static_cast<std::size_t>(space_.tasks()));
  for (std::size_t t = 0; t < here.size(); ++t) {
    for (const Strategy& strategy : strategies_[t]) {
      if (is_on(strategy, slot, block)) here[t].push_back(&strategy);
    }
  }
  std::set<std::vector<double>> seen;
  for (std::size_t p = 0; p < rooms.size(); ++p) {
    for (std::size_t working = static_cast<std::size_t>(slot); working < here.size(); ++working) {
      MilpTerms terms{{deal_.has_block(slot, block), -rooms[p] / kGigabyte}};
      std::vector<double> row{rooms[p]};
      double maximum = 0;
      for (std::size_t t = 0; t < here.size(); ++t) {
        double max_of_task = 0;
        for (const Strategy* strategy : here[t]) {
          const double bytes =
              strategy->option->resident_bytes[p] + (t == working ? strategy->option->working_bytes[p] : 0);
          max_of_task = std::max(max_of_task, bytes);
          row.push_back(bytes);
          terms.push_back({strategy->variable, bytes / kGigabyte});
        }
        maximum += max_of_task;
      }
      if (maximum > rooms[p] && seen.insert(row).second) problem_.add_row(-kMilpInfinity, terms, 0);
    }
  }
}

void IlpModel::add_times() {
  for (int t = 0; t < space_.tasks(); ++t) {
    Times times{problem_.add_variable(0, horizon_s_), problem_.add_variable(0, horizon_s_),
                problem_.add_variable(0, horizon_s_)};
    problem_.add_row(0, {{times.start, 1}, {times.duration, 1}, {times.end, -1}}, 0);
    MilpTerms duration = sum_over_strategies(t, [](const ExactOption& option) { return option.value.time_s; });
    duration.push_back({times.duration, -1});
    problem_.add_row(0, duration, 0);
    times_.push_back(times);
  }
  for (int first = 0; first < space_.tasks(); ++first) {
    for (int second = first + 1; second < space_.tasks(); ++second) {
      if (kind_of(first) == kind_of(second)) add_order(first, second);
    }
  }
}

// Binary variable: both tasks are in one slot.
int IlpModel::add_sharing(int first, int second) {
  const int sharing = problem_.add_binary();
  MilpTerms in_one{{sharing, -1}};
  for (int slot = 0; slot <= std::min(first, second); ++slot) {
    const int in_first = deal_.in_slot(first, slot), in_second = deal_.in_slot(second, slot);
    const int both = problem_.add_binary();
    problem_.add_row(-kMilpInfinity, {{both, 1}, {in_first, -1}}, 0);
    problem_.add_row(-kMilpInfinity, {{both, 1}, {in_second, -1}}, 0);
    problem_.add_row(-kMilpInfinity, {{in_first, 1}, {in_second, 1}, {both, -1}}, 1);
    in_one.push_back({both, 1});
  }
  problem_.add_row(0, in_one, 0);
  return sharing;
}

// The same, one variable for each pair.
int IlpModel::sharing(int first, int second) {
  const auto [known, is_new] = sharings_.try_emplace(std::minmax(first, second), 0);
  if (is_new) known->second = add_sharing(first, second);
  return known->second;
}

// The second task waits for the first if they share devices.
void IlpModel::add_order(int first, int second) {
  const int sharing = this->sharing(first, second);
  problem_.add_row(-horizon_s_,
                   {{times_[static_cast<std::size_t>(second)].start, 1},
                    {times_[static_cast<std::size_t>(first)].end, -1},
                    {sharing, -horizon_s_}},
                   kMilpInfinity);
}

// Binary variable: generation may overlap, since no other task is in its slot. Zero for synchronous workflows.
int IlpModel::add_alone() {
  const bool may = space_.request().workflow.mode != Mode::synchronous;
  const int alone = problem_.add_whole(0, may ? 1 : 0);
  for (int t = 0; may && t < space_.tasks(); ++t) {
    if (t == parts_of_sync_.generation()) continue;
    for (int slot = 0; slot <= std::min(t, parts_of_sync_.generation()); ++slot) {
      problem_.add_row(
          -kMilpInfinity,
          {{alone, 1}, {deal_.in_slot(t, slot), 1}, {deal_.in_slot(parts_of_sync_.generation(), slot), 1}}, 2);
    }
  }
  return alone;
}

void IlpModel::add_phases() {
  const Workflow& workflow = space_.request().workflow;
  const double eta = space_.frame().coefficient(CoefficientId::task_overlap);
  const int alone = alone_ = add_alone();
  std::array<int, kTaskKinds>&phase = phase_, &begin = begin_;
  for (std::size_t k = 0; k < kTaskKinds; ++k) {
    phase[k] = problem_.add_variable(0, horizon_s_);
    begin[k] = problem_.add_variable(0, horizon_s_);
    const int makespan = makespan_[k] = problem_.add_variable(0, horizon_s_);
    MilpTerms phi{{phase[k], -1}, {makespan, eta}};
    for (int t = 0; t < space_.tasks(); ++t) {
      if (static_cast<std::size_t>(kind_of(t)) != k) continue;
      const Times& times = times_[static_cast<std::size_t>(t)];
      phi.push_back({times.duration, 1 - eta});
      problem_.add_row(0, {{times.start, 1}, {begin[k], -1}}, kMilpInfinity);
      problem_.add_row(-kMilpInfinity, {{times.end, 1}, {begin[k], -1}, {makespan, -1}}, 0);
    }
    problem_.add_row(0, phi, 0);
    // The same for whole slots, independent of the order: it makes relaxations strong.
    for (int slot = 0; slot < deal_.slots(); ++slot) {
      MilpTerms busy{{makespan, -1}};
      for (int t = 0; t < space_.tasks(); ++t) {
        if (static_cast<std::size_t>(kind_of(t)) != k) continue;
        for (const Strategy& strategy : strategies_[static_cast<std::size_t>(t)]) {
          if (strategy.slot == slot) busy.push_back({strategy.variable, strategy.option->value.time_s});
        }
      }
      if (busy.size() > 1) problem_.add_row(-kMilpInfinity, busy, 0);
    }
  }
  const auto generation = static_cast<std::size_t>(TaskKind::generation),
             inference = static_cast<std::size_t>(TaskKind::inference),
             training = static_cast<std::size_t>(TaskKind::training);
  const bool is_hidden = parts_of_sync_.may_be_hidden();  // then add_finish() has the objective
  const int end = end_ = problem_.add_variable(0, horizon_s_, is_hidden ? 0 : 1);
  problem_.add_row(
      -0.0, {{begin[inference], 1}, {begin[generation], -1}, {phase[generation], -1}, {alone, horizon_s_}},
      kMilpInfinity);
  problem_.add_row(0, {{begin[training], 1}, {begin[inference], -1}, {phase[inference], -1}}, kMilpInfinity);
  problem_.add_row(0, {{end, 1}, {begin[training], -1}, {phase[training], -1}}, kMilpInfinity);
  // streamed_s of costmodel/iteration.h, which is at most the sum of its phases.
  const double ahead = workflow.staleness, part = 1.0 / workflow.streamed_parts;
  const auto at_least = [&](double of_generation, double of_rest) {
    problem_.add_row(0,
                     {{end, 1},
                      {phase[generation], -of_generation},
                      {phase[inference], -of_rest},
                      {phase[training], -of_rest}},
                     kMilpInfinity);
  };
  at_least(1, 0);
  at_least(std::max(0.0, part - ahead), 1);
  at_least(std::max(0.0, 1.0 - ahead), part);
}

// Selects the fastest link between places with devices of both sides; no link if the sides share devices.
void IlpModel::add_way(int shares, int transfer) {
  const std::vector<IlpAssignment::Place> places = deal_.places();
  const auto from_slots = [&](int task, const IlpAssignment::Place& place, int is_there) {
    for (int slot = 0; slot <= task; ++slot) {
      MilpTerms terms{{is_there, 1}, {deal_.in_slot(task, slot), 1}};
      for (const MilpTerm& term : deal_.presence(slot, place))
        terms.push_back({term.variable, -term.coefficient});
      problem_.add_row(-kMilpInfinity, terms, 1);
    }
  };
  MilpTerms one{{shares, 1}}, cost{{transfer, -1}};
  for (const IlpAssignment::Place& from : places) {
    for (const IlpAssignment::Place& to : places) {
      const UnitClass& sends = space_.classes()[from.of_class];
      const bool is_same = from.of_class == to.of_class && from.unit == to.unit;
      if (is_same && (from.unit >= 0 || sends.count() < 2)) continue;  // only one side can have it
      const double time_s = parts_of_sync_.min_between_s(from.of_class, to.of_class);
      const int goes = problem_.add_binary();
      from_slots(parts_of_sync_.training(), from, goes);
      from_slots(parts_of_sync_.generation(), to, goes);
      one.push_back({goes, 1});
      cost.push_back({goes, time_s});
    }
  }
  problem_.add_row(1, one, 1);
  problem_.add_row(-kMilpInfinity, cost, 0);
}

void IlpModel::add_transfers() {
  const std::vector<WeightTransfer<double>>& transfers = space_.evaluator().transfers();
  const bool is_hidden = parts_of_sync_.may_be_hidden();
  const int longest = problem_.add_variable(0, kMilpInfinity, is_hidden ? 0 : 1);
  for (const WeightTransfer<double>& transfer : transfers) {
    transfers_.push_back(problem_.add_variable(0, kMilpInfinity));
    problem_.add_row(0, {{longest, 1}, {transfers_.back(), -1}}, kMilpInfinity);
    if (transfer.is_to_generation) add_actor_transfer(transfers_.back());
  }
  if (is_hidden) add_finish(longest, space_.frame().coefficient(CoefficientId::task_overlap));
}

// weight_transfers.h: (1 - eta) (end + longest) + eta max(end, max_k (begin_k + transfer_k)).
void IlpModel::add_finish(int longest, double eta) {
  const std::vector<WeightTransfer<double>>& transfers = space_.evaluator().transfers();
  const int finish = problem_.add_variable(0, kMilpInfinity, 1), last = problem_.add_variable(0, kMilpInfinity);
  problem_.add_row(0, {{finish, 1}, {end_, eta - 1}, {longest, eta - 1}, {last, -eta}}, kMilpInfinity);
  problem_.add_row(0, {{last, 1}, {end_, -1}}, kMilpInfinity);
  for (std::size_t k = 0; k < transfers.size(); ++k)
    problem_.add_row(0, {{last, 1}, {add_begin(transfers[k]), -1}, {transfers_[k], -1}}, kMilpInfinity);
}

// When the transfer may begin: after the trainings that share a slot with one of its two tasks.
int IlpModel::add_begin(const WeightTransfer<double>& transfer) {
  const auto training = static_cast<std::size_t>(TaskKind::training),
             generation = static_cast<std::size_t>(TaskKind::generation);
  const int trained = static_cast<int>(transfer.use.trained), used = static_cast<int>(transfer.use.used);
  const int begin = problem_.add_variable(0, kMilpInfinity), idle = problem_.add_variable(0, horizon_s_);
  for (int t = 0; t < space_.tasks(); ++t) {
    if (kind_of(t) != TaskKind::training) continue;
    // idle <= begin of the phase + makespan - end of the task.
    MilpTerms terms{{idle, 1},
                    {begin_[training], -1},
                    {makespan_[training], -1},
                    {times_[static_cast<std::size_t>(t)].end, 1}};
    if (t == trained) {
      problem_.add_row(-kMilpInfinity, terms, 0);
      continue;
    }
    for (const int other : {trained, used}) {
      MilpTerms if_shared = terms;
      if_shared.push_back({sharing(t, other), 2 * horizon_s_});
      problem_.add_row(-kMilpInfinity, if_shared, 2 * horizon_s_);
    }
  }
  problem_.add_row(0, {{begin, 1}, {begin_[training], -1}, {phase_[training], -1}, {idle, 1}}, kMilpInfinity);
  if (transfer.is_to_generation) problem_.add_row(0, {{begin, 1}, {phase_[generation], -1}}, kMilpInfinity);
  if (space_.request().workflow.staleness < 1)  // a stream: after its end
    problem_.add_row(-horizon_s_, {{begin, 1}, {end_, -1}, {alone_, -horizon_s_}}, kMilpInfinity);
  return begin;
}

void IlpModel::add_actor_transfer(int sync) {
  const int training = parts_of_sync_.training(), generation = parts_of_sync_.generation();
  const int shares = sharing(training, generation);
  const int transfer = problem_.add_variable(0, kMilpInfinity),
            copied = problem_.add_variable(0, kMilpInfinity);
  add_way(shares, transfer);
  // A variable is at least a sum over strategies of both sides, in one of the two cases.
  const double handover_s = parts_of_sync_.handover_s();
  MilpTerms together{{sync, 1}}, apart{{sync, 1}, {transfer, -1}, {copied, -1}};
  double max_together_s = 0, max_apart_s = 0;
  for (const int task : {training, generation}) {
    const auto together_s = [&](const ExactOption& option) {
      return parts_of_sync_.together_s(task, option.value);
    };
    const auto apart_s = [&](const ExactOption& option) { return parts_of_sync_.apart_s(task, option.value); };
    const auto copied_s = [](const ExactOption& option) { return option.value.copied_s; };
    for (const MilpTerm& term : sum_over_strategies(task, together_s))
      together.push_back({term.variable, -term.coefficient});
    for (const MilpTerm& term : sum_over_strategies(task, apart_s))
      apart.push_back({term.variable, -term.coefficient});
    MilpTerms longer = sum_over_strategies(task, copied_s);
    longer.push_back({copied, -1});
    problem_.add_row(-kMilpInfinity, longer, 0);
    max_together_s += max_of_strategies(task, together_s);
    max_apart_s += max_of_strategies(task, apart_s) + max_of_strategies(task, copied_s);
  }
  together.push_back({shares, -max_together_s});
  problem_.add_row(handover_s - max_together_s, together, kMilpInfinity);
  apart.push_back({shares, max_apart_s});
  problem_.add_row(handover_s, apart, kMilpInfinity);
}

double IlpModel::transfer_s(const std::vector<double>& values, std::size_t transfer) const {
  return values[static_cast<std::size_t>(transfers_[transfer])];
}

void IlpModel::require_transfer(const UnitChoice& choice, std::size_t transfer, double time_s) {
  MilpTerms terms{{transfers_[transfer], 1}};
  double all = 0;
  const auto add = [&](int variable) {
    terms.push_back({variable, -time_s});
    all += 1;
  };
  for (const MilpValue& value : deal_.values_of(choice)) {
    if (value.value > 0.5) add(value.variable);
  }
  const std::vector<int> slots = IlpAssignment::slots_of(choice.grouping);
  const std::vector<int> blocks = space_.blocks_of_deal(choice.shares);
  const WeightUse& use = space_.evaluator().transfers()[transfer].use;
  for (const std::size_t t : {use.trained, use.used}) {
    const auto group = static_cast<std::size_t>(choice.grouping.group_of[t]);
    for (const Strategy& strategy : strategies_[t]) {
      if (is_on(strategy, slots[group], blocks[group]) && strategy.option == choice.chosen[t])
        add(strategy.variable);
    }
  }
  problem_.add_row(time_s * (1 - all), terms, kMilpInfinity);
}

bool IlpModel::is_apart(const UnitChoice& choice) const {
  const auto group_of = [&](int task) { return choice.grouping.group_of[static_cast<std::size_t>(task)]; };
  return group_of(parts_of_sync_.training()) != group_of(parts_of_sync_.generation());
}

void IlpModel::require_sync_between(const UnitChoice& choice) {
  const auto group_of = [&](int task) {
    return static_cast<std::size_t>(choice.grouping.group_of[static_cast<std::size_t>(task)]);
  };
  const std::size_t training = group_of(parts_of_sync_.training()),
                    generation = group_of(parts_of_sync_.generation());
  SEXTANT_CHECK(training != generation);
  const std::vector<int> slots = IlpAssignment::slots_of(choice.grouping);
  const std::vector<int> blocks = space_.blocks_of_deal(choice.shares);
  const auto devices = space_.devices_of_deal(choice.shares);
  const SyncBetween between(space_, parts_of_sync_, blocks[training], devices[training], devices[generation]);
  MilpTerms terms{{transfers_.front(), 1}};
  double longest_s = 0;
  for (const Strategy& strategy : strategies_[static_cast<std::size_t>(parts_of_sync_.generation())]) {
    if (!is_on(strategy, slots[generation], blocks[generation])) continue;
    const double min_s = between.min_s(strategy.option->value) + parts_of_sync_.handover_s();
    longest_s = std::max(longest_s, min_s);
    terms.push_back({strategy.variable, -min_s});
  }
  std::vector<int> fixed{deal_.in_slot(parts_of_sync_.training(), slots[training]),
                         deal_.in_slot(parts_of_sync_.generation(), slots[generation])};
  for (const int slot : {slots[training], slots[generation]}) {
    for (const int variable : deal_.runs_of(choice, slot)) fixed.push_back(variable);
  }
  for (const int variable : fixed) terms.push_back({variable, -longest_s});
  problem_.add_row(-longest_s * static_cast<double>(fixed.size()), terms, kMilpInfinity);
}

void IlpModel::require_data(const UnitChoice& choice, double data_s) {
  if (data_ < 0) data_ = problem_.add_variable(0, kMilpInfinity, 1);
  MilpTerms terms{{data_, 1}};
  double all = 0;
  for (const MilpValue& value : deal_.values_of(choice)) {
    if (value.value < 0.5) continue;
    terms.push_back({value.variable, -data_s});
    all += 1;
  }
  problem_.add_row(data_s * (1 - all), terms, kMilpInfinity);
}

double IlpModel::data_s(const std::vector<double>& values) const {
  return data_ < 0 ? 0 : values[static_cast<std::size_t>(data_)];
}

UnitChoice IlpModel::choice(const std::vector<double>& values) const {
  const auto is_on = [&](int variable) { return values[static_cast<std::size_t>(variable)] > 0.5; };
  UnitChoice choice;
  std::vector<int> group_of_slot(static_cast<std::size_t>(deal_.slots()), -1);
  for (int slot = 0; slot < deal_.slots(); ++slot) {
    for (int block = 0; block < deal_.blocks(); ++block) {
      if (!is_on(deal_.has_block(slot, block))) continue;
      group_of_slot[static_cast<std::size_t>(slot)] = choice.grouping.groups++;
      choice.shares.push_back(deal_.share_of_block(block));
    }
  }
  for (const std::vector<Strategy>& strategies : strategies_) {
    for (const Strategy& strategy : strategies) {
      if (!is_on(strategy.variable)) continue;
      choice.grouping.group_of.push_back(group_of_slot[static_cast<std::size_t>(strategy.slot)]);
      choice.chosen.push_back(strategy.option);
    }
  }
  return choice;
}

std::vector<MilpValue> IlpModel::values_of(const UnitChoice& choice) const {
  std::vector<MilpValue> values = deal_.values_of(choice);
  const std::vector<int> slots = IlpAssignment::slots_of(choice.grouping);
  const std::vector<int> blocks = space_.blocks_of_deal(choice.shares);
  for (std::size_t t = 0; t < strategies_.size(); ++t) {
    const auto group = static_cast<std::size_t>(choice.grouping.group_of[t]);
    for (const Strategy& strategy : strategies_[t]) {
      const bool is_taken = is_on(strategy, slots[group], blocks[group]) && strategy.option == choice.chosen[t];
      values.push_back({strategy.variable, is_taken ? 1.0 : 0.0});
    }
  }
  return values;
}

}  // namespace sextant::inline planner
