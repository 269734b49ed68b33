// The times of weight-transfer methods between two pools of devices, which a search can cache (weight_sync.h).
#pragma once

#include "sextant/error.h"
#include "sextant/plan.h"

namespace sextant::terms {

// Seconds of the frameworks' methods between two pools, without the trainers' gathers. They follow from the two
// sets of devices and from the largest part of the weights on a device of generation. Methods that the plan
// does not use are zero.
template <typename T>
struct WeightWays {
  T flat_s = T(0.0);
  T topology_aware_s = T(0.0);
  T sharded_s = T(0.0);
  T around_both_s = T(0.0);  // broadcast
};

// The all-gathers inside replicas of training, after which their devices have all weights: one replica is
// enough if one sends to all, all replicas are needed if engines fetch from the nearest trainer.
template <typename T>
struct Gathers {
  T fastest_s = T(0.0);
  T slowest_s = T(0.0);
};

// The time of the method with the trainers' gathers: tensors are gathered while others are sent, so the longer
// of both counts. Not for per_replica.
template <typename T>
[[nodiscard]] T between_pools_s(WeightSyncMethod method, const WeightWays<T>& ways, const Gathers<T>& gathers) {
  const auto beside = [](const T& a, const T& b) { return a < b ? b : a; };
  const auto fetched = [&](const T& time_s) { return beside(gathers.slowest_s, time_s); };
  switch (method) {
    case WeightSyncMethod::flat:
      return fetched(ways.flat_s);
    case WeightSyncMethod::sharded:
      return fetched(ways.sharded_s);
    case WeightSyncMethod::topology_aware:
      return fetched(ways.topology_aware_s);
    case WeightSyncMethod::broadcast:
      return beside(gathers.fastest_s, ways.around_both_s);
    case WeightSyncMethod::shortest: {
      T minimum = fetched(ways.sharded_s);  // flat is never faster
      for (const T& other : {fetched(ways.topology_aware_s), beside(gathers.fastest_s, ways.around_both_s)}) {
        if (other < minimum) minimum = other;
      }
      return minimum;
    }
    case WeightSyncMethod::per_replica:
      break;
  }
  SEXTANT_CHECK(false);
  return T(0.0);
}

}  // namespace sextant::terms
