// The best ways to lay a task out on given devices: levels 4 and 5 of HetRL's search (section 3.2), looked at
// once for all devices that are alike.
//
// Devices are taken in their order, replica after replica, or stage after stage: replicas of equals, or stages
// of equals. For searches, options that another one beats in time, weight synchronization and the bytes of the
// fullest device of every type are left out, which may be those that alone fit beside another task, and so are
// those that save hardly any bytes; proofs look at each.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "planner/evaluate/evaluator.h"
#include "planner/request/shapes.h"
#include "planner/space/costed_options.h"
#include "planner/space/option.h"

namespace sextant {

// every: all shapes are costed, with their load dealt in every way. promising: of degrees that are slower by a
// fifth (or what a smaller pipeline bubble gains) than others with as little memory, at a micro-batch size in
// the middle, the other sizes are not, and of those that are twice as slow other loads are not; and where links
// tell machines apart, only what was worth keeping on a few sets of as many devices of each class. A fiftieth
// of the smallest device's memory is not worth more time.
enum class Thoroughness { every, promising };

class OptionTable {
 public:
  // References must outlive it. Its lookups change the evaluator's current candidate.
  OptionTable(Evaluator& evaluator, const Cluster& cluster, const Workflow& workflow, ShapeLimits limits,
              Thoroughness thoroughness = Thoroughness::every);

  // From now on layers and sequences are also dealt by what devices and stages are to them (balance.h).
  void balance_load();
  // And of promising layouts by what the cost model says of their stages.
  void balance_load_by_cost() { deals_by_cost_ = true; }
  // From now on the task has this shape alone, its devices in the order in which they are given.
  void fix(int task, int shape) { fixed_[task] = shape; }

  // From now on what others have costed is taken from them, and they hear what this table does. The exchange
  // must outlive it. Which options a set has may then depend on who was first to look at it, as otherwise on
  // the order of lookups, where only what is promising is costed.
  void share_through(OptionExchange& exchange) { exchange_ = &exchange; }

  struct Heard {
    int task = 0;
    std::vector<std::uint16_t> devices;
    const std::vector<Option>* options = nullptr;  // valid as long as the table
  };
  // What others have costed, and this table was not asked about first, since the last time. Throws
  // Error(machine) where it cannot be of the same request.
  [[nodiscard]] std::vector<Heard> heard();

  // Of Option::by_type.
  [[nodiscard]] int type_of(std::uint16_t device) const { return type_of_[device]; }
  [[nodiscard]] int types() const { return types_; }

  // Fastest first; empty where no shape uses all of the devices up. Valid as long as the table.
  [[nodiscard]] const std::vector<Option>& of(int task, const std::vector<std::uint16_t>& devices);

  // The same where it was asked before, or others were; otherwise null.
  [[nodiscard]] const std::vector<Option>* known(int task, const std::vector<std::uint16_t>& devices) const;

  // A placement as an option of its own, costed now, on devices that other options may not have.
  [[nodiscard]] Option as_option(int task, const Placement& placement);

  // Every option: each shape with each way to deal its load in each order of the devices, as the evaluator has
  // just been asked about it. Nothing is compared and nothing kept.
  void for_each(int task, const std::vector<std::uint16_t>& devices,
                const std::function<void(const Option&)>& look);
  // Of the shapes that the last for_each dealt unevenly only these will be named.
  void keep_alone(int task, const std::set<int>& shapes);

 private:
  using Devices = std::vector<std::uint16_t>;
  using Sizes = std::vector<int>;  // positions of shapes that differ in their micro-batches alone
  // What one of the options that were costed first is of.
  struct Degrees {
    const Sizes* sizes;
    DeviceOrder order;
  };
  // What sets of devices that differ in their links alone have shown.
  struct SimilarSets {
    static constexpr int kEnough = 3;
    int sets = 0;                                // that were looked at whole
    std::set<std::pair<int, DeviceOrder>> kept;  // even shapes that were worth keeping
    [[nodiscard]] bool is_known() const { return sets >= kEnough; }
  };

  void take_in();
  void take_in(const CostedOptions& costed);
  void offer(int task, const Devices& devices, const std::vector<Option>& options);
  [[nodiscard]] std::vector<int> places_of(int task, const Devices& devices) const;
  [[nodiscard]] bool has_similar_sets(int task) const;
  static void learn(const std::vector<Option>& options, SimilarSets& kin);
  [[nodiscard]] std::vector<Option> look(int task, const Devices& devices);
  void add_ways_of_degrees(int task, const std::vector<const Sizes*>& shapes, const Devices& devices,
                           std::vector<Option>& options, std::vector<Degrees>& degrees);
  [[nodiscard]] double gain_of_smallest(int task, const Sizes& sizes) const;
  [[nodiscard]] std::pair<int, int> degrees_of(int task, const Sizes& sizes) const;
  [[nodiscard]] std::vector<Option> look_at_promising(int task, const Devices& devices);
  [[nodiscard]] std::vector<Option> look_similar(int task, const Devices& devices);
  [[nodiscard]] std::vector<int> class_counts(int task, const Devices& devices) const;
  [[nodiscard]] const std::vector<Sizes>& shapes_for(int task, int devices);
  [[nodiscard]] std::vector<const Sizes*> near_shapes_for(int task, const Devices& devices);
  [[nodiscard]] Option costed(int task, int position, DeviceOrder order, const Devices& devices);
  [[nodiscard]] int split_shape(int task, int even_shape, DeviceOrder order, LoadSplit dealing,
                                const Devices& devices);
  [[nodiscard]] std::vector<MemoryNeeds> needs_by_type(int task, const Placement& placement) const;
  // Bytes that are not worth more time.
  [[nodiscard]] double negligible_bytes() const {
    return thoroughness_ == Thoroughness::every ? 0 : negligible_bytes_;
  }
  [[nodiscard]] std::vector<Option> worth_keeping(int task, std::vector<Option> options);
  [[nodiscard]] int shape_dealt_by_cost(int task, const Option& way, const Devices& devices);
  [[nodiscard]] int shape_dealt_like(int task, int even_shape, const Option& way, const Devices& devices);
  void add_dealt_by_cost(int task, const Devices& devices, std::vector<Option>& ways);
  void add_costed(int task, int position, DeviceOrder order, const Devices& devices,
                  std::vector<Option>& options);

  Evaluator& evaluator_;
  const Cluster& cluster_;
  const Workflow& workflow_;
  ShapeLimits limits_;
  Thoroughness thoroughness_;
  OptionExchange* exchange_ = nullptr;
  std::vector<Heard> heard_;
  std::vector<int> type_of_;  // by device
  int types_ = 0;
  double negligible_bytes_ = 0;
  std::vector<LoadWeights> weights_;  // by task; none: loads stay even
  bool deals_by_cost_ = false;
  int first_dealt_ = 0;                                       // shapes from here on are of one look alone
  std::map<int, int> fixed_;                                  // shapes, by task
  std::map<std::vector<int>, std::vector<Option>> known_;     // by task and places of the devices
  std::map<std::vector<int>, SimilarSets> kin_;               // by task and devices of every class of machines
  std::map<std::pair<int, int>, std::vector<Sizes>> shapes_;  // by task and number of devices
};

}  // namespace sextant
