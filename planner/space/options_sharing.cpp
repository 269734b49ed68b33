// The exchange of options with other searches.
#include <algorithm>
#include <utility>

#include "planner/space/options.h"
#include "sextant/error.h"

namespace sextant::inline planner {
namespace {

bool fits(const CostedOptions& costed, std::size_t tasks, std::size_t devices) {
  const auto holds_all = [&](const Shape& shape) {
    return shape.tensor_parallel > 0 && static_cast<std::size_t>(shape.devices()) == costed.devices.size();
  };
  return costed.task >= 0 && static_cast<std::size_t>(costed.task) < tasks && !costed.devices.empty() &&
         std::all_of(costed.devices.begin(), costed.devices.end(),
                     [&](std::uint16_t device) { return device < devices; }) &&
         std::all_of(costed.options.begin(), costed.options.end(), [&](const CostedOption& option) {
           return holds_all(option.shape) && holds_all(option.even_shape);
         });
}

// Counts a larger or smaller share of the KV cache of stated size in the option's bytes.
void change_reserved(const Execution& execution, double change, Option& option) {
  const double bytes = change * execution.kv_cache_bytes;
  const bool sleeps = execution.offload_weights;
  (sleeps ? option.value.max_working_bytes : option.value.max_resident_bytes) += bytes;
  for (MemoryNeeds& needs : option.by_type) (sleeps ? needs.working_bytes : needs.resident_bytes) += bytes;
}

}  // namespace

void OptionTable::take_in(const CostedOptions& costed) {
  if (!fits(costed, workflow_.tasks.size(), type_of_.size()))
    throw_machine_failed("a search for another request shares its options with this one");
  const auto [entry, is_new] = known_.try_emplace(places_of(costed.task, costed.devices));
  if (!is_new) return;
  ShapeTable& shapes = evaluator_.shapes(costed.task);
  for (const CostedOption& other : costed.options) {
    Option& option = entry->second.emplace_back(other.option);
    option.shape = shapes.add(other.shape);
    option.even_shape = shapes.add(other.even_shape);
    change_reserved(evaluator_.execution(costed.task, other.shape),
                    evaluator_.memory_share() - costed.memory_share, option);
  }
  heard_.push_back({costed.task, costed.devices, &entry->second});
  if (!has_similar_sets(costed.task)) return;
  SimilarSets& kin = kin_[class_counts(costed.task, costed.devices)];
  if (!kin.is_known()) learn(entry->second, kin);
}

void OptionTable::take_in() {
  for (const std::string& bytes : exchange_->taken()) take_in(unpacked(bytes));
}

std::vector<OptionTable::Heard> OptionTable::heard() {
  if (exchange_ != nullptr) take_in();
  return std::exchange(heard_, {});
}

void OptionTable::offer(int task, const Devices& devices, const std::vector<Option>& options) {
  const ShapeTable& shapes = evaluator_.shapes(task);
  CostedOptions costed{task, evaluator_.memory_share(), devices, {}};
  for (const Option& option : options)
    costed.options.push_back({shapes.at(option.shape), shapes.at(option.even_shape), option});
  exchange_->offer(packed(costed));
}

}  // namespace sextant::inline planner
