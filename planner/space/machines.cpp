#include "planner/space/machines.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "planner/request/counts.h"
#include "sextant/error.h"

namespace sextant::inline planner {
namespace {

// Lists assignments of machines to groups, class by class.
class Dealer {
 public:
  Dealer(const std::vector<MachineClass>& classes, int groups)
      : classes_(classes), shares_(static_cast<std::size_t>(groups), MachineShare(classes.size(), 0)) {}

  std::vector<std::vector<MachineShare>> all() {
    deal(0, 0, classes_.empty() ? 0 : classes_.front().count());
    return std::move(found_);
  }

 private:
  // `left` machines of the class remain for this group and later ones.
  void deal(std::size_t machine_class, std::size_t group, int left) {
    if (machine_class == classes_.size()) {
      if (none_is_empty()) found_.push_back(shares_);
      return;
    }
    const bool is_last = group + 1 == shares_.size();
    for (int taken = is_last ? left : 0; taken <= left; ++taken) {
      shares_[group][machine_class] = taken;
      if (!is_last) {
        deal(machine_class, group + 1, left - taken);
      } else {
        const bool is_more = machine_class + 1 < classes_.size();
        deal(machine_class + 1, 0, is_more ? classes_[machine_class + 1].count() : 0);
      }
    }
    shares_[group][machine_class] = 0;
  }

  [[nodiscard]] bool none_is_empty() const {
    return std::all_of(shares_.begin(), shares_.end(), [](const MachineShare& share) {
      return std::any_of(share.begin(), share.end(), [](int machines) { return machines > 0; });
    });
  }

  const std::vector<MachineClass>& classes_;
  std::vector<MachineShare> shares_;  // by group
  std::vector<std::vector<MachineShare>> found_;
};

}  // namespace

std::vector<MachineClass> machine_classes(const Cluster& cluster) {
  std::vector<MachineClass> classes;
  // A kind is a node class, which does not include the number of devices and the memory, and a zone.
  using Kind = std::tuple<int, int, int, double>;
  std::map<Kind, std::size_t> class_of;
  for (int n = 0; n < static_cast<int>(cluster.nodes().size()); ++n) {
    const NodeId id{n};
    const Node& node = cluster.nodes()[id.index()];
    const Kind kind{cluster.node_class(id), cluster.zone_number(id), node.devices,
                    node.host_memory_bytes.value_or(0)};
    const auto known = cluster.has_zonal_links() ? class_of.find(kind) : class_of.end();
    if (known != class_of.end()) {
      classes[known->second].machines.push_back(id);
      continue;
    }
    class_of[kind] = classes.size();
    classes.push_back({{id}, node.devices});
  }
  return classes;
}

double machine_deal_count(const std::vector<MachineClass>& classes, int groups) {
  double out = 0;
  for (int used = 1; used <= groups; ++used) {
    const double sign = (groups - used) % 2 == 0 ? 1 : -1;
    const double deals =
        std::accumulate(classes.begin(), classes.end(), 1.0, [&](double product, const MachineClass& machines) {
          return product * binomial(machines.count() + used - 1, used - 1);
        });
    out += sign * binomial(groups, used) * deals;
  }
  return out;
}

std::vector<std::vector<MachineShare>> machine_deals(const std::vector<MachineClass>& classes, int groups,
                                                     std::size_t maximum) {
  SEXTANT_CHECK(groups >= 1);
  if (machine_deal_count(classes, groups) > static_cast<double>(maximum)) return {};
  return Dealer(classes, groups).all();
}

}  // namespace sextant::inline planner
