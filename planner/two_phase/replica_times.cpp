#include "planner/two_phase/replica_times.h"

#include <algorithm>
#include <numeric>

namespace sextant {
namespace {

// 1 to 64, then 6 % apart.
std::vector<int> points_up_to(int most) {
  constexpr int kAllBelow = 64;
  constexpr double kStep = 1.06;
  std::vector<int> points;
  double next = 1;
  while (static_cast<int>(next) < most) {
    points.push_back(static_cast<int>(next));
    next = next < kAllBelow ? next + 1 : next * kStep;
  }
  points.push_back(most);
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

ReplicaTimes::ReplicaTimes(const Costing& costing, int task) : costing_(costing), task_(task) {}

ReplicaValue ReplicaTimes::value(const ReplicaKind& kind, const BatchCut& cut, int sequences) const {
  const int all = costing_.workflow().sequences();
  Shape shape;
  shape.tensor_parallel = kind.tensor_parallel;
  shape.micro_batch_sequences = cut.micro_batch_sequences;
  shape.decode_batch_sequences = cut.decode_batch_sequences;
  shape.layers = dealt_evenly(costing_.workflow().model_of(costing_.task(task_)).layers, kind.stages);
  shape.sequences = {sequences};
  if (sequences < all) shape.sequences.push_back(all - sequences);
  return costing_.model(task_).replica(shape, first_devices(costing_.cluster(), kind.machine, kind.size()), 0);
}

int ReplicaTimes::find_most(const ReplicaKind& kind, const BatchCut& cut) const {
  const double room = costing_.room_bytes(DeviceId{first_devices(costing_.cluster(), kind.machine, 1).front()});
  const auto fits = [&](int sequences) {
    const PositionBytes bytes = *value(kind, cut, sequences).bytes;
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

ReplicaTimes::Curve& ReplicaTimes::curve(const ReplicaKind& kind, const BatchCut& cut) {
  const auto [entry, is_new] =
      curves_.try_emplace({kind.machine_class, kind.tensor_parallel, kind.stages, cut});
  if (is_new) {
    Curve& curve = entry->second;
    curve.kind = kind;
    curve.cut = cut;
    if (const int most = find_most(kind, cut); most > 0) curve.sequences = points_up_to(most);
    curve.time_s.assign(curve.sequences.size(), -1);
  }
  return entry->second;
}

double ReplicaTimes::at(Curve& curve, std::size_t point) {
  double& known = curve.time_s[point];
  if (known < 0) known = value(curve.kind, curve.cut, curve.sequences[point]).time_s;
  return known;
}

int ReplicaTimes::most_sequences(const ReplicaKind& kind, const BatchCut& cut) {
  const Curve& of = curve(kind, cut);
  return of.sequences.empty() ? 0 : of.sequences.back();
}

double ReplicaTimes::time_s(const ReplicaKind& kind, const BatchCut& cut, int sequences) {
  Curve& of = curve(kind, cut);
  const auto after = std::lower_bound(of.sequences.begin(), of.sequences.end(), sequences);
  const auto point = static_cast<std::size_t>(after - of.sequences.begin());
  if (*after == sequences) return at(of, point);
  const double from = of.sequences[point - 1], to = of.sequences[point];
  const double share = (sequences - from) / (to - from);
  return (1 - share) * at(of, point - 1) + share * at(of, point);
}

int ReplicaTimes::capacity(const ReplicaKind& kind, const BatchCut& cut, double within_s) {
  Curve& of = curve(kind, cut);
  // The first point that takes longer.
  std::size_t low = 0, high = of.sequences.size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (at(of, middle) <= within_s) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) return 0;
  const int done = of.sequences[low - 1];
  if (low == of.sequences.size()) return done;
  const double from_s = at(of, low - 1), to_s = at(of, low);
  const int apart = of.sequences[low] - done;
  return done + std::min(apart - 1, static_cast<int>(apart * (within_s - from_s) / (to_s - from_s)));
}

}  // namespace sextant
