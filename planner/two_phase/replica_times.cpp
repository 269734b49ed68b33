#include "planner/two_phase/replica_times.h"

#include <algorithm>
#include <numeric>

namespace sextant::inline planner {
namespace {

// 1 to 64, then 6 % apart.
std::vector<int> points_up_to(int maximum) {
  constexpr int kAllBelow = 64;
  constexpr double kStep = 1.06;
  std::vector<int> points;
  double next = 1;
  while (static_cast<int>(next) < maximum) {
    points.push_back(static_cast<int>(next));
    next = next < kAllBelow ? next + 1 : next * kStep;
  }
  points.push_back(maximum);
  return points;
}

std::vector<std::uint16_t> first_devices(const Cluster& cluster, NodeId machine, int count) {
  int first = 0;
  for (std::size_t n = 0; n < machine.index(); ++n) first += cluster.nodes()[n].devices;
  std::vector<std::uint16_t> devices(static_cast<std::size_t>(count));
  std::iota(devices.begin(), devices.end(), static_cast<std::uint16_t>(first));
  return devices;
}

}  // namespace

ReplicaCurve::ReplicaCurve(const Costing& costing, int task, const ReplicaKind& kind, const BatchCut& cut)
    : costing_(costing), task_(task), kind_(kind), cut_(cut) {
  if (const int maximum = find_most(); maximum > 0) sequences_ = points_up_to(maximum);
  time_s_.assign(sequences_.size(), -1);
}

ReplicaValue ReplicaCurve::value(int sequences) const {
  const int all = costing_.workflow().sequences();
  Shape shape;
  shape.tensor_parallel = kind_.tensor_parallel;
  shape.micro_batch_sequences = cut_.micro_batch_sequences;
  shape.decode_batch_sequences = cut_.decode_batch_sequences;
  shape.layers = dealt_evenly(costing_.workflow().model_of(costing_.task(task_)).layers, kind_.stages);
  shape.sequences = {sequences};
  if (sequences < all) shape.sequences.push_back(all - sequences);
  return costing_.model(task_).replica(shape, first_devices(costing_.cluster(), kind_.machine, kind_.size()),
                                       0);
}

int ReplicaCurve::find_most() const {
  const double room =
      costing_.free_memory_bytes(DeviceId{first_devices(costing_.cluster(), kind_.machine, 1).front()});
  const auto fits = [&](int sequences) {
    const PositionBytes bytes = *value(sequences).bytes;
    double need = 0;
    for (std::size_t p = 0; p < bytes.resident.size(); ++p)
      need = std::max(need, bytes.resident[p] + bytes.working[p]);
    return need <= room;
  };
  int low = 0, high = costing_.workflow().sequences();
  if (fits(high)) return high;
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

double ReplicaCurve::at(std::size_t point) {
  double& known = time_s_[point];
  if (known < 0) known = value(sequences_[point]).time_s;
  return known;
}

double ReplicaCurve::time_s(int sequences) {
  const auto after = std::lower_bound(sequences_.begin(), sequences_.end(), sequences);
  const auto point = static_cast<std::size_t>(after - sequences_.begin());
  if (*after == sequences) return at(point);
  const double from = sequences_[point - 1], to = sequences_[point];
  const double share = (sequences - from) / (to - from);
  return (1 - share) * at(point - 1) + share * at(point);
}

int ReplicaCurve::capacity(double within_s) {
  // The first point that takes longer.
  std::size_t low = 0, high = sequences_.size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (at(middle) <= within_s) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) return 0;
  const int done = sequences_[low - 1];
  if (low == sequences_.size()) return done;
  const double from_s = at(low - 1), to_s = at(low);
  const int apart = sequences_[low] - done;
  return done + std::min(apart - 1, static_cast<int>(apart * (within_s - from_s) / (to_s - from_s)));
}

ReplicaCurve& ReplicaTimes::of(const ReplicaKind& kind, const BatchCut& cut) {
  const std::tuple key{kind.machine_class, kind.tensor_parallel, kind.stages, cut};
  const auto known = curves_.find(key);
  return known != curves_.end() ? known->second
                                : curves_.try_emplace(key, costing_, task_, kind, cut).first->second;
}

}  // namespace sextant::inline planner
