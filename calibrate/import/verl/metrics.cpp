#include "calibrate/import/verl/metrics.h"

#include <algorithm>
#include <mutex>
#include <string>
#include <unordered_set>

#include "sextant/error.h"

namespace sextant::inline calibrate {
namespace {

struct NameHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>{}(name); }
};

}  // namespace

std::string_view kept_metric_name(std::string_view name) {
  static std::mutex mutex;
  static std::unordered_set<std::string, NameHash, std::equal_to<>> names;
  const std::lock_guard<std::mutex> lock(mutex);
  auto found = names.find(name);
  if (found == names.end()) found = names.emplace(name).first;
  return *found;
}

Metrics::Metrics(std::initializer_list<Item> items) {
  for (const auto& [name, value] : items) set(name, value);
}

const Metrics::Item* Metrics::find(std::string_view name) const {
  const auto found =
      std::find_if(items_.begin(), items_.end(), [name](const Item& item) { return item.first == name; });
  return found == items_.end() ? nullptr : &*found;
}

std::optional<double> Metrics::get(std::string_view name) const {
  const Item* const found = find(name);
  return found == nullptr ? std::nullopt : std::optional(found->second);
}

double Metrics::at(std::string_view name) const {
  const Item* const found = find(name);
  SEXTANT_CHECK(found != nullptr);
  return found->second;
}

void Metrics::set(std::string_view name, double value) {
  if (const Item* const found = find(name)) {
    items_[static_cast<std::size_t>(found - items_.data())].second = value;
  } else {
    items_.emplace_back(kept_metric_name(name), value);
  }
}

void Metrics::add(std::string_view name, double value) {
  if (!contains(name)) items_.emplace_back(kept_metric_name(name), value);
}

void Metrics::erase(std::string_view name) {
  std::erase_if(items_, [name](const Item& item) { return item.first == name; });
}

void Metrics::merge(const Metrics& later) {
  if (items_.empty()) {
    items_ = later.items_;
    return;
  }
  for (const auto& [name, value] : later) set(name, value);
}

bool operator==(const Metrics& a, const Metrics& b) {
  return a.size() == b.size() && std::all_of(a.begin(), a.end(), [&b](const Metrics::Item& item) {
           return b.get(item.first) == item.second;
         });
}

void MetricLine::take(std::string_view name, double value) {
  const std::size_t place = metrics_.size();
  if (place < names_.size() && names_[place] == name) {  // no other place of this line has it
    metrics_.items_.emplace_back(names_[place], value);
    return;
  }
  metrics_.set(name, value);
  if (metrics_.size() == place) return;
  // A name that comes earlier than in the line before may come again at its old place.
  names_.resize(place);
  names_.push_back(metrics_.items_.back().first);
}

}  // namespace sextant::inline calibrate
