// The best layouts of a task on given devices: levels 4 and 5 of HetRL's search (section 3.2), costed once for
// all sets of interchangeable devices.
//
// Devices are used in their order, replica by replica or stage by stage, so that devices of a replica or of a
// stage are alike. Searches leave out options that another one beats in time, weight synchronization and
// maximum bytes per device type (one of these could be the only option that fits together with another task),
// and options that save very little memory; proofs examine every option.
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

namespace sextant::inline planner {

// every: costs all shapes with all load splits. promising: skips other micro-batch sizes of degrees that are >
// 20 % slower at the middle size (or the gain of a smaller pipeline bubble) than others with as little memory, or that
// need at most half of the smallest device's,
// and other load splits of degrees that are > 2x slower. If links distinguish machines, it only costs shapes
// that were kept on a few sets with equally many devices of each class. Less than a fiftieth of the smallest
// device's memory does not justify more time.
enum class Thoroughness { every, promising };

class OptionTable {
 public:
  // References must outlive the table. Its look-ups change the evaluator's current candidate.
  OptionTable(Evaluator& evaluator, const Cluster& cluster, const Workflow& workflow, ShapeLimits limits,
              Thoroughness thoroughness = Thoroughness::every);

  // Also splits layers and sequences by the speed of devices and stages from now on (balance.h).
  void balance_load();
  // Also splits promising layouts by the cost model's times of their stages.
  void balance_load_by_cost() { deals_by_cost_ = true; }
  // From now on, once this is true, only the first execution of every degree of parallelism is costed.
  void hurry_when(std::function<bool()> is_late) { is_late_ = std::move(is_late); }
  // Gives the task this single shape from now on; its devices stay in the given order.
  void fix(int task, int shape) { fixed_[task] = shape; }

  // Exchanges costs with other searches from now on. The exchange must outlive the table. The options of a set
  // may then depend on which search costed it first, as they otherwise depend on the order of look-ups if only
  // promising ones are costed.
  void share_through(OptionExchange& exchange) { exchange_ = &exchange; }

  struct Heard {
    int task = 0;
    std::vector<std::uint16_t> devices;
    const std::vector<Option>* options = nullptr;  // valid as long as the table
  };
  // The sets that other searches have costed before this table, since the last call. Throws Error(machine) if
  // they cannot be of the same request.
  [[nodiscard]] std::vector<Heard> heard();

  // Position of the device's type in Option::by_type.
  [[nodiscard]] int type_of(std::uint16_t device) const { return type_of_[device]; }
  [[nodiscard]] int types() const { return types_; }

  // The options, fastest first; empty if no shape uses all of the devices. Valid as long as the table.
  [[nodiscard]] const std::vector<Option>& of(int task, const std::vector<std::uint16_t>& devices);

  // The same if the options are already known, here or from other searches; otherwise null.
  [[nodiscard]] const std::vector<Option>* known(int task, const std::vector<std::uint16_t>& devices) const;

  // Costs a placement as an option of its own, on devices that need not have other options.
  [[nodiscard]] Option as_option(int task, const Placement& placement);

  // Calls `look` with every option: each shape with each load split in each order of the devices, just after
  // the evaluator costed it. Options are neither compared nor stored.
  void for_each(int task, const std::vector<std::uint16_t>& devices,
                const std::function<void(const Option&)>& look);
  // Drops the uneven shapes of the last for_each() except these.
  void keep_alone(int task, const std::set<int>& shapes);

 private:
  using Devices = std::vector<std::uint16_t>;
  using Sizes = std::vector<int>;  // positions of shapes that differ only in micro-batch size
  // The origin of an option of the first pass.
  struct Degrees {
    const Sizes* sizes;
    DeviceOrder order;
  };
  // The results for sets of devices that differ in their links only.
  struct SimilarSets {
    static constexpr int kEnough = 3;
    int sets = 0;                                // number of sets that were fully costed
    std::set<std::pair<int, DeviceOrder>> kept;  // even shapes that were kept
    [[nodiscard]] bool is_known() const { return sets >= kEnough; }
  };

  void take_in();
  void take_in(const CostedOptions& costed);
  void offer(int task, const Devices& devices, const std::vector<Option>& options);
  [[nodiscard]] std::vector<int> places_of(int task, const Devices& devices) const;
  [[nodiscard]] bool has_similar_sets(int task) const;
  static void learn(const std::vector<Option>& options, SimilarSets& kin);
  [[nodiscard]] bool is_late() const { return is_late_ && is_late_(); }
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
  [[nodiscard]] std::vector<DeviceOrder> orders_of(int task, const Shape& shape) const;
  [[nodiscard]] Option costed(int task, int position, DeviceOrder order, const Devices& devices);
  [[nodiscard]] int split_shape(int task, int even_shape, DeviceOrder order, LoadSplit dealing,
                                const Devices& devices);
  [[nodiscard]] std::vector<MemoryNeeds> needs_by_type(int task, const Placement& placement) const;
  // Savings below this do not justify more time.
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
  double roomy_bytes_ = 0;
  std::vector<LoadWeights> weights_;  // by task; empty: loads stay even
  bool deals_by_cost_ = false;
  std::function<bool()> is_late_;
  int first_dealt_ = 0;                                       // shapes from here on: current look-up only
  std::map<int, int> fixed_;                                  // shape by task
  std::map<std::vector<int>, std::vector<Option>> known_;     // by task and location of the devices
  std::map<std::vector<int>, SimilarSets> kin_;               // by task and devices per class of machines
  std::map<std::pair<int, int>, std::vector<Sizes>> shapes_;  // by task and number of devices
};

}  // namespace sextant::inline planner
