// The metrics of one step of a log. Logs have hundreds of thousands of steps with the same names, which are kept once.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace sextant::inline calibrate {

// The same name, kept until the program ends.
[[nodiscard]] std::string_view kept_metric_name(std::string_view name);

class Metrics {
 public:
  using Item = std::pair<std::string_view, double>;  // the name is a kept one

  Metrics() = default;
  Metrics(std::initializer_list<Item> items);

  [[nodiscard]] bool empty() const { return items_.empty(); }
  [[nodiscard]] std::size_t size() const { return items_.size(); }
  [[nodiscard]] bool contains(std::string_view name) const { return find(name) != nullptr; }
  [[nodiscard]] std::optional<double> get(std::string_view name) const;
  [[nodiscard]] double at(std::string_view name) const;  // it must be there

  // Replaces the value, if there is one.
  void set(std::string_view name, double value);
  // Leaves the value, if there is one.
  void add(std::string_view name, double value);
  void erase(std::string_view name);
  // Takes all values of another one in place of its own.
  void merge(const Metrics& later);
  void clear() { items_.clear(); }
  void shrink() { items_.shrink_to_fit(); }

  [[nodiscard]] std::vector<Item>::const_iterator begin() const { return items_.begin(); }
  [[nodiscard]] std::vector<Item>::const_iterator end() const { return items_.end(); }

  friend bool operator==(const Metrics& a, const Metrics& b);

 private:
  friend class MetricLine;
  [[nodiscard]] const Item* find(std::string_view name) const;

  std::vector<Item> items_;
};

// Collects the metrics of one line after another, whose names are mostly those of the line before at the same places.
class MetricLine {
 public:
  void begin() { metrics_.clear(); }
  // The name is not yet in this line, or its value is replaced.
  void take(std::string_view name, double value);
  [[nodiscard]] const Metrics& metrics() const { return metrics_; }

 private:
  Metrics metrics_;
  std::vector<std::string_view> names_;  // of the line before, by place
};

}  // namespace sextant::inline calibrate
