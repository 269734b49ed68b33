#include "calibrate/gradient.h"

#include <ceres/jet.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "sextant/error.h"

namespace sextant::inline calibrate {
namespace {

constexpr int kAtOnce = 16;  // derivatives carried through one evaluation of the model
using Jet = ceres::Jet<double, kAtOnce>;

}  // namespace

struct RunGradient::DualHardware {
  Hardware<Jet> hardware;
};

RunGradient::RunGradient(const PreparedRun& run, const std::vector<Parameter>& parameters)
    : run_(&run),
      hardware_(run.hardware<double>()),
      dual_hardware_(std::make_shared<DualHardware>(DualHardware{run.hardware<Jet>()})),
      map_(parameters, hardware_, run.run().framework),
      parameter_count_(parameters.size()) {}

template <typename Answer>
bool RunGradient::Last<Answer>::is_at(const double* coordinates) const {
  return !at.empty() && std::equal(at.begin(), at.end(), coordinates);
}

CoefficientValues<double> RunGradient::values(const double* coordinates) const {
  CoefficientValues<double> table(map_.type_count());
  for (const ParameterMap::Slot& slot : map_.slots()) {
    table.set(slot.id, slot.type, ParameterMap::value(slot, coordinates).value);
  }
  return table;
}

const std::vector<double>& RunGradient::predict(const double* coordinates) const {
  if (!predicted_.is_at(coordinates)) {
    predicted_.answer = run_->predict(values(coordinates), hardware_);
    predicted_.at.assign(coordinates, coordinates + parameter_count_);
  }
  return predicted_.answer;
}

void RunGradient::by_slots(const double* coordinates, const std::vector<int>& slots,
                           std::vector<double>& predicted, std::vector<std::vector<double>>& by_slot) const {
  const CoefficientValues<double> plain = values(coordinates);
  by_slot.assign(run_->times().size(), std::vector<double>(slots.size(), 0.0));
  for (std::size_t first = 0; first < slots.size(); first += kAtOnce) {
    CoefficientValues<Jet> table(map_.type_count());
    for (const ParameterMap::Slot& slot : map_.slots()) {
      table.set(slot.id, slot.type, Jet(plain.at(slot.id, slot.type)));
    }
    const std::size_t end = std::min(slots.size(), first + kAtOnce);
    for (std::size_t k = first; k < end; ++k) {
      const ParameterMap::Slot& slot = map_.slots()[static_cast<std::size_t>(slots[k])];
      table.set(slot.id, slot.type, Jet(plain.at(slot.id, slot.type), static_cast<int>(k - first)));
    }
    const std::vector<Jet> jets = run_->predict(std::move(table), dual_hardware_->hardware);
    predicted.clear();
    for (std::size_t t = 0; t < jets.size(); ++t) {
      predicted.push_back(jets[t].a);
      for (std::size_t k = first; k < end; ++k) by_slot[t][k] = jets[t].v[static_cast<int>(k - first)];
    }
  }
  if (slots.empty()) predicted = run_->predict(plain, hardware_);
}

bool RunGradient::find_relevant(const double* coordinates) {
  std::vector<int> unknown;
  for (int slot = 0; slot < static_cast<int>(map_.slots().size()); ++slot) {
    if (!std::binary_search(relevant_.begin(), relevant_.end(), slot)) unknown.push_back(slot);
  }
  std::vector<double> predicted;
  std::vector<std::vector<double>> by_slot;
  by_slots(coordinates, unknown, predicted, by_slot);
  std::set<int> relevant(relevant_.begin(), relevant_.end());
  for (std::size_t t = 0; t < by_slot.size(); ++t) {
    const std::vector<double>& row = by_slot[t];
    if (!std::isfinite(predicted[t])) {
      throw_bad_input("run " + run_->run().name + ": the model gives no finite value for " +
                      run_->times()[t].what);
    }
    for (std::size_t k = 0; k < row.size(); ++k) {
      SEXTANT_CHECK(std::isfinite(row[k]));
      if (row[k] != 0) relevant.insert(unknown[k]);
    }
  }
  if (relevant.size() == relevant_.size()) return false;
  relevant_.assign(relevant.begin(), relevant.end());
  std::set<int> columns;
  for (const int k : relevant_) {
    const ParameterMap::Slot& slot = map_.slots()[static_cast<std::size_t>(k)];
    columns.insert(slot.common);
    columns.insert(slot.deviations.begin(), slot.deviations.end());
  }
  columns_.assign(columns.begin(), columns.end());
  evaluated_.at.clear();  // it lacks the new columns
  return true;
}

const RunGradient::Result& RunGradient::evaluate(const double* coordinates) const {
  if (!evaluated_.is_at(coordinates)) {
    differentiate(coordinates, evaluated_.answer);
    evaluated_.at.assign(coordinates, coordinates + parameter_count_);
  }
  return evaluated_.answer;
}

void RunGradient::differentiate(const double* coordinates, Result& result) const {
  std::vector<std::vector<double>> by_slot;
  by_slots(coordinates, relevant_, result.predicted, by_slot);
  result.by_parameter.assign(run_->times().size(), std::vector<double>(columns_.size(), 0.0));
  const auto column_of = [this](int parameter) {
    return static_cast<std::size_t>(std::lower_bound(columns_.begin(), columns_.end(), parameter) -
                                    columns_.begin());
  };
  for (std::size_t k = 0; k < relevant_.size(); ++k) {
    const ParameterMap::Slot& slot = map_.slots()[static_cast<std::size_t>(relevant_[k])];
    const ParameterMap::Value value = ParameterMap::value(slot, coordinates);
    for (std::size_t t = 0; t < by_slot.size(); ++t) {
      const double derivative = by_slot[t][k];
      result.by_parameter[t][column_of(slot.common)] += derivative * value.by_common;
      for (const int d : slot.deviations)
        result.by_parameter[t][column_of(d)] += derivative * value.by_deviation;
    }
  }
}

}  // namespace sextant::inline calibrate
