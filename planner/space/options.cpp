#include "planner/space/options.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

namespace sextant::inline planner {
namespace {

// Slowdown beyond which other micro-batch sizes (or other load splits) are unlikely to help.
constexpr double kSlowerMicroBatch = 1.2, kSlowerLoad = 2;
// Slowdown beyond which other executions with the same degrees are unlikely to help.
constexpr double kSlowerExecution = 2;

// Additional memory with which an option may still beat another: a factor, then bytes.
struct Slack {
  double factor = 1;
  double bytes = 0;
  double roomy_bytes = 0;  // options that need no more than this fit beside others

  [[nodiscard]] bool allows(double bytes_of_a, double bytes_of_b) const {
    return bytes_of_a <= factor * bytes_of_b + bytes;
  }
};

// True if `a` beats `b`; both are on the same devices.
bool beats(const Option& a, const Option& b, const Slack& slack) {
  if (a.value.time_s > b.value.time_s || b.syncs_faster_than(a)) return false;
  if (a.value.max_host_bytes > b.value.max_host_bytes ||
      a.value.max_sleeping_bytes > b.value.max_sleeping_bytes)
    return false;
  const int types = std::max(1, static_cast<int>(a.by_type.size()));
  for (int type = 0; type < types; ++type) {
    const MemoryNeeds of_a = a.needs_on(type), of_b = b.needs_on(type);
    if (!slack.allows(of_a.resident_bytes, of_b.resident_bytes) ||
        !slack.allows(of_a.working_bytes, of_b.working_bytes))
      return false;
  }
  return true;
}

// True if the option is slower by this factor than another one with as little memory. Working memory counts if the
// other option needs much: it may not fit where the slower one does.
bool is_slower(double factor, const Option& option, const std::vector<Option>& others, const Slack& slack) {
  return std::any_of(others.begin(), others.end(), [&](const Option& other) {
    const double resident = other.value.max_resident_bytes, working = other.value.max_working_bytes;
    return factor * other.value.time_s <= option.value.time_s &&
           slack.allows(resident, option.value.max_resident_bytes) &&
           (resident + working <= slack.roomy_bytes || slack.allows(working, option.value.max_working_bytes));
  });
}

// Sorted by time: an option can only be beaten by one before it.
std::vector<Option> unbeaten(std::vector<Option> options, const Slack& slack) {
  std::stable_sort(options.begin(), options.end(),
                   [](const Option& a, const Option& b) { return a.value.time_s < b.value.time_s; });
  std::vector<Option> kept;
  for (const Option& option : options) {
    const bool beaten =
        std::any_of(kept.begin(), kept.end(), [&](const Option& other) { return beats(other, option, slack); });
    if (!beaten) kept.push_back(option);
  }
  return kept;
}

// Load splits: saving a twentieth of the memory does not justify costing all micro-batch sizes twice.
std::vector<Option> clearly_unbeaten(std::vector<Option> ways) {
  constexpr double kFactor = 1.05;
  return unbeaten(std::move(ways), {kFactor});
}

// The factor by which filling and draining extend the time of a pipeline, for each of `mini_batches`.
double with_bubble(const Shape& shape, int mini_batches) {
  const double in_mini_batch = static_cast<double>(shape.sequences.front()) / mini_batches;
  const double micro_batches = std::max(1.0, std::ceil(in_mini_batch / shape.micro_batch_sequences));
  return (micro_batches + shape.pipeline_parallel() - 1) / micro_batches;
}

}  // namespace

OptionTable::OptionTable(Evaluator& evaluator, const Cluster& cluster, const Workflow& workflow,
                         ShapeLimits limits, Thoroughness thoroughness)
    : evaluator_(evaluator),
      cluster_(cluster),
      workflow_(workflow),
      limits_(std::move(limits)),
      thoroughness_(thoroughness) {
  std::map<std::string, int> types;
  for (int d = 0; d < cluster.device_count(); ++d) {
    const auto next = static_cast<int>(types.size());
    type_of_.push_back(types.emplace(cluster.type_name(DeviceId{d}), next).first->second);
  }
  types_ = static_cast<int>(types.size());
  double min_bytes = std::numeric_limits<double>::infinity();
  for (const auto& [name, type] : cluster.device_types())
    min_bytes = std::min(min_bytes, type.memory_bytes.value);
  constexpr double kNegligible = 0.02;
  negligible_bytes_ = kNegligible * min_bytes;
  constexpr double kRoomy = 0.5;
  roomy_bytes_ = kRoomy * min_bytes;
}

// Memory by type for the last placement that the evaluator costed.
std::vector<MemoryNeeds> OptionTable::needs_by_type(int task, const Placement& placement) const {
  const int first = type_of_[placement.devices.front()];
  if (std::all_of(placement.devices.begin(), placement.devices.end(),
                  [&](std::uint16_t device) { return type_of_[device] == first; }))
    return {};
  std::vector<MemoryNeeds> needs(static_cast<std::size_t>(types_));
  std::size_t position = 0;
  for (const ReplicaValue* replica : evaluator_.replicas(task)) {
    const PositionBytes& bytes = *replica->bytes;
    for (std::size_t p = 0; p < bytes.resident.size(); ++p) {
      MemoryNeeds& maximum = needs[static_cast<std::size_t>(type_of_[placement.devices[position++]])];
      maximum.resident_bytes = std::max(maximum.resident_bytes, bytes.resident[p]);
      maximum.working_bytes = std::max(maximum.working_bytes, bytes.working[p]);
    }
  }
  return needs;
}

const std::vector<OptionTable::Sizes>& OptionTable::shapes_for(int task, int devices) {
  const auto [entry, is_new] = shapes_.try_emplace({task, devices});
  if (!is_new) return entry->second;
  const Task& of = workflow_.tasks[static_cast<std::size_t>(task)];
  std::map<std::tuple<int, Recompute, int>, std::size_t> place;  // by execution and degrees
  for (const Shape& shape : shapes_of(of, workflow_, devices, limits_)) {
    const int position = evaluator_.shapes(task).add(shape);
    const auto [at, is_first] = place.try_emplace(
        {evaluator_.shapes(task).cut(position), shape.recompute, shape.decode_batch_sequences},
        entry->second.size());
    if (is_first) entry->second.emplace_back();
    entry->second[at->second].push_back(position);
  }
  return entry->second;
}

// Removes shapes whose stages cross slow links, unless there are no others.
std::vector<const OptionTable::Sizes*> OptionTable::near_shapes_for(int task, const Devices& devices) {
  std::vector<const Sizes*> all, near;
  std::map<int, bool> is_near;  // by width
  for (const Sizes& sizes : shapes_for(task, static_cast<int>(devices.size()))) {
    const int width = evaluator_.shapes(task).at(sizes.front()).tensor_parallel;
    const auto [known, is_new] = is_near.try_emplace(width);
    if (is_new) known->second = stages_are_near(devices, width, cluster_);
    all.push_back(&sizes);
    if (known->second) near.push_back(&sizes);
  }
  return near.empty() ? all : near;
}

Option OptionTable::as_option(int task, const Placement& placement) {
  const TaskValue value = evaluator_.value_of(task, placement);
  const bool is_training = workflow_.tasks[static_cast<std::size_t>(task)].kind == TaskKind::training;
  const double rest_s = value.copied_s + value.fetched_s;
  Option option;
  option.shape = option.even_shape = placement.shape;
  option.value = value;
  option.weights_apart_s =
      rest_s + (is_training ? value.slowest_gather_s : 0.0) + evaluator_.part_of_weights_s(value.largest_part);
  option.weights_together_s = rest_s + (is_training ? value.slowest_gather_s : 0.0);
  option.by_type = needs_by_type(task, placement);
  return option;
}

// The orders that differ and that the framework can have.
std::vector<DeviceOrder> OptionTable::orders_of(int task, const Shape& shape) const {
  if (shape.pipeline_parallel() == 1 || shape.data_parallel() == 1) return {DeviceOrder::by_replica};
  switch (choices_for(limits_.choices, static_cast<std::size_t>(task)).rank_order) {
    case RankOrder::replicas_outermost:
      return {DeviceOrder::by_replica};
    case RankOrder::stages_outermost:
      return {DeviceOrder::by_stage};
    case RankOrder::any:
      break;
  }
  return {DeviceOrder::by_replica, DeviceOrder::by_stage};
}

Option OptionTable::costed(int task, int position, DeviceOrder order, const Devices& devices) {
  const Shape& shape = evaluator_.shapes(task).at(position);
  Option option = as_option(task, placed(shape, position, order, devices));
  option.order = order;
  return option;
}

// Costs a shape with all different load splits and adds those that are clearly better in something.
void OptionTable::add_costed(int task, int position, DeviceOrder order, const Devices& devices,
                             std::vector<Option>& options) {
  const Slack slack{1, negligible_bytes(), roomy_bytes_};
  std::vector<Option> ways{costed(task, position, order, devices)};
  for (const LoadSplit dealing : kLoadSplits) {
    if (weights_.empty()) break;
    if (dealing == LoadSplit::evenly) continue;
    // The head moves a layer or two, and packed sequences cost the same on any replica: a shape that is slow
    // without these splits is slow with them. Padding can be most of a task.
    const bool changes_little =
        dealing == LoadSplit::by_speed_and_head ||
        (dealing == LoadSplit::by_length && weights_[static_cast<std::size_t>(task)].is_packed);
    const double slower = changes_little ? kSlowerMicroBatch : kSlowerLoad;
    if (std::all_of(ways.begin(), ways.end(),
                    [&](const Option& way) { return is_slower(slower, way, options, slack); }))
      continue;
    const int dealt = split_shape(task, position, order, dealing, devices);
    if (std::any_of(ways.begin(), ways.end(), [&](const Option& other) { return other.shape == dealt; }))
      continue;
    ways.push_back(costed(task, dealt, order, devices));
    ways.back().even_shape = position;
    ways.back().dealing = dealing;
  }
  if (deals_by_cost_ && evaluator_.shapes(task).at(position).pipeline_parallel() > 1 &&
      !std::all_of(ways.begin(), ways.end(),
                   [&](const Option& way) { return is_slower(kSlowerMicroBatch, way, options, slack); }))
    add_dealt_by_cost(task, devices, ways);
  if (ways.size() > 1) ways = clearly_unbeaten(std::move(ways));
  options.insert(options.end(), ways.begin(), ways.end());
}

void OptionTable::for_each(int task, const Devices& devices, const std::function<void(const Option&)>& look) {
  const auto fixed = fixed_.find(task);
  const std::vector<const Sizes*> shapes =
      fixed == fixed_.end() ? near_shapes_for(task, devices) : std::vector<const Sizes*>{};
  first_dealt_ = evaluator_.shapes(task).size();
  if (fixed != fixed_.end()) look(costed(task, fixed->second, DeviceOrder::by_replica, devices));
  const auto deal = [&](int position, DeviceOrder order) {
    std::vector<int> ways;
    for (const LoadSplit dealing : kLoadSplits) {
      if (dealing != LoadSplit::evenly && weights_.empty()) break;
      const int dealt = split_shape(task, position, order, dealing, devices);
      if (std::find(ways.begin(), ways.end(), dealt) != ways.end()) continue;
      ways.push_back(dealt);
      Option option = costed(task, dealt, order, devices);
      option.even_shape = position;
      option.dealing = dealing;
      look(option);
    }
  };
  for (const Sizes* sizes : shapes) {
    for (const int position : *sizes) {
      const Shape& shape = evaluator_.shapes(task).at(position);
      for (const DeviceOrder order : orders_of(task, shape)) deal(position, order);
    }
  }
}

std::vector<Option> OptionTable::look(int task, const Devices& devices) {
  if (const auto fixed = fixed_.find(task); fixed != fixed_.end())
    return {costed(task, fixed->second, DeviceOrder::by_replica, devices)};
  if (thoroughness_ == Thoroughness::every) {
    std::vector<Option> all;
    for_each(task, devices, [&](const Option& option) { all.push_back(option); });
    return worth_keeping(task, std::move(all));
  }
  return look_at_promising(task, devices);
}

// The smallest micro-batches leave the shortest bubble, the main difference between sizes in small batches.
double OptionTable::gain_of_smallest(int task, const Sizes& sizes) const {
  const ShapeTable& shapes = evaluator_.shapes(task);
  const bool trains = workflow_.tasks[static_cast<std::size_t>(task)].kind == TaskKind::training;
  const int mini_batches = trains ? workflow_.mini_batches : 1;
  return with_bubble(shapes.at(sizes[sizes.size() / 2]), mini_batches) /
         with_bubble(shapes.at(sizes.front()), mini_batches);
}

// Devices per stage and number of stages, which determine the number of replicas.
std::pair<int, int> OptionTable::degrees_of(int task, const Sizes& sizes) const {
  const Shape& shape = evaluator_.shapes(task).at(sizes.front());
  return {shape.tensor_parallel, shape.pipeline_parallel()};
}

// Costs one micro-batch size of every execution of the task with these degrees; if the first execution is slow,
// the others are skipped.
void OptionTable::add_ways_of_degrees(int task, const std::vector<const Sizes*>& shapes, const Devices& devices,
                                      std::vector<Option>& options, std::vector<Degrees>& degrees) {
  const Slack slack{1, negligible_bytes(), roomy_bytes_};
  const auto add = [&](const Sizes* sizes) {
    const Shape& shape = evaluator_.shapes(task).at(sizes->front());
    for (const DeviceOrder order : orders_of(task, shape)) {
      add_costed(task, (*sizes)[sizes->size() / 2], order, devices, options);
      degrees.resize(options.size(), {sizes, order});
    }
  };
  std::map<std::pair<int, int>, std::vector<const Sizes*>> others;
  std::map<std::pair<int, int>, Option> first;
  for (const Sizes* sizes : shapes) {
    const std::pair<int, int> of = degrees_of(task, *sizes);
    if (first.contains(of)) {
      others[of].push_back(sizes);
      continue;
    }
    const std::size_t before = options.size();
    add(sizes);
    first.emplace(of, options[before]);
  }
  const std::vector<Option> firsts = options;
  for (const auto& [of, ways] : others) {
    if (is_late()) return;
    if (is_slower(kSlowerExecution, first.at(of), firsts, slack)) continue;
    for (const Sizes* sizes : ways) add(sizes);
  }
}

std::vector<Option> OptionTable::look_at_promising(int task, const Devices& devices) {
  const Slack slack{1, negligible_bytes(), roomy_bytes_};
  std::vector<Degrees> degrees;
  std::vector<Option> options;
  const std::vector<const Sizes*> shapes = near_shapes_for(task, devices);
  first_dealt_ = evaluator_.shapes(task).size();
  add_ways_of_degrees(task, shapes, devices, options, degrees);
  const std::vector<Option> in_the_middle = options;
  const auto is_slow = [&](const Option& option, double gain) {
    return is_slower(kSlowerMicroBatch * gain, option, in_the_middle, slack);
  };
  for (std::size_t d = 0; d < degrees.size(); ++d) {
    if (is_late()) break;
    const auto& [sizes, order] = degrees[d];
    const Option& known = in_the_middle[d];
    const auto add_size = [&, order = order](int position) {
      options.push_back(costed(task, shape_dealt_like(task, position, known, devices), order, devices));
      options.back().even_shape = position;
      options.back().dealing = known.dealing;
    };
    if (is_slow(known, gain_of_smallest(task, *sizes))) continue;
    const bool doubts = is_slow(known, 1);
    if (doubts) {
      add_size(sizes->front());
      if (is_slow(options.back(), 1)) continue;
    }
    for (std::size_t s = doubts ? 1 : 0; s < sizes->size(); ++s) {
      if (s != sizes->size() / 2) add_size((*sizes)[s]);
    }
  }
  return worth_keeping(task, std::move(options));
}

// Drops shapes with special load splits, which are rarely reused and large if there are many replicas.
void OptionTable::keep_alone(int task, const std::set<int>& shapes) {
  ShapeTable& table = evaluator_.shapes(task);
  for (int position = first_dealt_; position < table.size(); ++position) {
    if (!shapes.contains(position)) table.forget(position);
  }
}

// The options that no other one beats.
std::vector<Option> OptionTable::worth_keeping(int task, std::vector<Option> options) {
  std::vector<Option> kept = unbeaten(std::move(options), {1, negligible_bytes()});
  std::set<int> used;
  for (const Option& option : kept) used.insert(option.shape);
  keep_alone(task, used);
  return kept;
}

std::vector<int> OptionTable::class_counts(int task, const Devices& devices) const {
  std::vector<int> counts{task};
  for (const std::uint16_t device : devices) {
    const auto of_class = static_cast<std::size_t>(cluster_.node_class(cluster_.node_of(DeviceId{device}))) + 1;
    if (counts.size() <= of_class) counts.resize(of_class + 1);
    ++counts[of_class];
  }
  return counts;
}

bool OptionTable::has_similar_sets(int task) const {
  return thoroughness_ == Thoroughness::promising && !cluster_.has_uniform_links() && !fixed_.contains(task);
}

void OptionTable::learn(const std::vector<Option>& options, SimilarSets& kin) {
  ++kin.sets;
  for (const Option& option : options) kin.kept.emplace(option.even_shape, option.order);
}

// The best degrees depend much less on links than on devices: once a few similar sets were costed in full, a
// further one is costed only with the shapes that were kept there.
std::vector<Option> OptionTable::look_similar(int task, const Devices& devices) {
  SimilarSets& kin = kin_[class_counts(task, devices)];
  std::vector<Option> options;
  if (!kin.is_known()) {
    options = look(task, devices);
    learn(options, kin);
    return options;
  }
  first_dealt_ = evaluator_.shapes(task).size();
  for (const auto& [position, order] : kin.kept) add_costed(task, position, order, devices, options);
  return worth_keeping(task, std::move(options));
}

// Key of a set: the task, then the locations of the devices, with nodes, zones and regions numbered by first
// appearance, except zones and regions with links of their own; single devices if links distinguish them.
std::vector<int> OptionTable::places_of(int task, const Devices& devices) const {
  std::vector<int> places{task};
  std::map<int, int> nodes, zones, regions;
  const auto number = [](std::map<int, int>& numbers, int key) {
    return numbers.try_emplace(key, static_cast<int>(numbers.size())).first->second;
  };
  const bool is_zonal = cluster_.has_zonal_links(), is_uniform = cluster_.has_uniform_links();
  NodeId last{-1};
  for (const std::uint16_t device : devices) {
    if (!is_zonal) {
      places.push_back(device);
      continue;
    }
    const NodeId node = cluster_.node_of(DeviceId{device});
    if (node == last) {
      ++places.back();
      continue;
    }
    last = node;
    const int zone = cluster_.zone_number(node), region = cluster_.region_number(node);
    places.insert(places.end(),
                  {cluster_.node_class(node), number(nodes, node.value),
                   is_uniform ? number(zones, zone) : zone, is_uniform ? number(regions, region) : region, 1});
  }
  return places;
}

const std::vector<Option>* OptionTable::known(int task, const std::vector<std::uint16_t>& devices) const {
  const auto entry = known_.find(places_of(task, devices));
  return entry == known_.end() ? nullptr : &entry->second;
}

const std::vector<Option>& OptionTable::of(int task, const std::vector<std::uint16_t>& devices) {
  std::vector<int> places = places_of(task, devices);
  if (const auto known = known_.find(places); known != known_.end()) return known->second;
  const bool is_shared = exchange_ != nullptr && !fixed_.contains(task);
  if (is_shared) take_in();
  const auto [entry, is_new] = known_.try_emplace(std::move(places));
  if (!is_new) return entry->second;
  entry->second = has_similar_sets(task) ? look_similar(task, devices) : look(task, devices);
  if (is_shared && !is_late()) offer(task, devices, entry->second);
  return entry->second;
}

}  // namespace sextant::inline planner
