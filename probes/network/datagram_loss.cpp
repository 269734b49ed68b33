// Loss and jitter from the datagrams that returned, and their JSON.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "core/json_value.h"
#include "probes/network/datagrams.h"
#include "sextant/statistics.h"

namespace sextant::inline probes {
namespace {

constexpr double kJitterGain = 1.0 / 16;

// RFC 3550 over transit times in the order of arrival.
class Jitter {
 public:
  void add(double transit_s) {
    if (has_last_) value_s_ += (std::abs(transit_s - last_s_) - value_s_) * kJitterGain;
    last_s_ = transit_s;
    has_last_ = true;
  }
  [[nodiscard]] double value_s() const { return value_s_; }

 private:
  double value_s_ = 0;
  double last_s_ = 0;
  bool has_last_ = false;
};

// Without the time that the other host had it.
double round_trip_s(const ReturnedDatagram& one) {
  return (one.received_s - one.sent_s) - (one.sent_back_s - one.received_there_s);
}

std::vector<DatagramSlot> slots_of(int sent, const std::vector<ReturnedDatagram>& returned) {
  std::map<std::uint64_t, double> times_s;  // by number, whatever the order in which they came
  for (const ReturnedDatagram& one : returned) times_s[one.number] = round_trip_s(one);
  std::vector<DatagramSlot> slots;
  for (int first = 0; first < sent; first += kSlotDatagrams) {
    DatagramSlot& slot = slots.emplace_back();
    slot.sent = std::min(kSlotDatagrams, sent - first);
    std::vector<double> of_slot, steps;
    const auto end = times_s.lower_bound(static_cast<std::uint64_t>(first + slot.sent));
    for (auto one = times_s.lower_bound(static_cast<std::uint64_t>(first)); one != end; ++one) {
      if (!of_slot.empty()) steps.push_back(std::abs(one->second - of_slot.back()));
      of_slot.push_back(one->second);
    }
    slot.returned = static_cast<int>(of_slot.size());
    if (!of_slot.empty()) slot.median_s = median(of_slot);
    if (!steps.empty()) {
      slot.jitter_s = std::accumulate(steps.begin(), steps.end(), 0.0) / static_cast<double>(steps.size());
    }
  }
  return slots;
}

}  // namespace

DatagramLoss summarise(int sent, int arrived, const std::vector<ReturnedDatagram>& returned) {
  DatagramLoss loss;
  loss.sent = sent;
  loss.arrived = arrived;
  loss.returned = static_cast<int>(returned.size());
  // Without the server's word all that is lost counts as lost on the way there.
  const int there = arrived < 0 ? loss.returned : arrived;
  loss.lost_there_fraction = 1 - static_cast<double>(there) / sent;
  loss.lost_back_fraction = there > 0 ? 1 - static_cast<double>(loss.returned) / there : 0;
  Jitter jitter_there, jitter_back;
  std::vector<double> times_s;
  for (const ReturnedDatagram& one : returned) {
    jitter_there.add(one.received_there_s - one.sent_s);
    jitter_back.add(one.received_s - one.sent_back_s);
    times_s.push_back(round_trip_s(one));
  }
  loss.jitter_there_s = jitter_there.value_s();
  loss.jitter_back_s = jitter_back.value_s();
  if (!times_s.empty()) {
    loss.median_s = median(times_s);
    loss.p99_s = quantile(times_s, 0.99);
    loss.seconds = returned.back().sent_s - returned.front().sent_s;
  }
  loss.over_time = slots_of(sent, returned);
  return loss;
}

DatagramSlot DatagramSlot::parse(const JsonView& view) {
  view.allow_only({"sent", "returned", "median_s", "jitter_s"});
  DatagramSlot slot;
  slot.sent = view.required("sent").count(1);
  slot.returned = view.required("returned").count(0);
  if (const auto median = view.optional("median_s")) slot.median_s = median->number();
  if (const auto jitter = view.optional("jitter_s")) slot.jitter_s = jitter->non_negative();
  return slot;
}

Json DatagramSlot::to_json() const {
  Json out = {{"sent", sent}, {"returned", returned}};
  if (median_s) out["median_s"] = *median_s;
  if (jitter_s) out["jitter_s"] = *jitter_s;
  return out;
}

DatagramLoss DatagramLoss::parse(const JsonView& view) {
  view.allow_only({"sent", "arrived", "returned", "lost_there_fraction", "lost_back_fraction", "jitter_there_s",
                   "jitter_back_s", "median_s", "p99_s", "seconds", "over_time"});
  DatagramLoss loss;
  loss.sent = view.required("sent").count(1);
  loss.arrived = static_cast<int>(view.required("arrived").integer(-1, loss.sent));
  loss.returned = view.required("returned").count(0);
  loss.lost_there_fraction = view.required("lost_there_fraction").fraction();
  loss.lost_back_fraction = view.required("lost_back_fraction").fraction();
  loss.jitter_there_s = view.required("jitter_there_s").non_negative();
  loss.jitter_back_s = view.required("jitter_back_s").non_negative();
  loss.median_s = view.required("median_s").number();
  loss.p99_s = view.required("p99_s").number();
  loss.seconds = view.required("seconds").non_negative();
  if (const auto slots = view.optional("over_time")) {
    for (const JsonView& slot : slots->items()) loss.over_time.push_back(DatagramSlot::parse(slot));
  }
  return loss;
}

Json DatagramLoss::to_json() const {
  Json slots = Json::array();
  for (const DatagramSlot& slot : over_time) slots.push_back(slot.to_json());
  return {{"sent", sent},
          {"arrived", arrived},
          {"returned", returned},
          {"lost_there_fraction", lost_there_fraction},
          {"lost_back_fraction", lost_back_fraction},
          {"jitter_there_s", jitter_there_s},
          {"jitter_back_s", jitter_back_s},
          {"median_s", median_s},
          {"p99_s", p99_s},
          {"seconds", seconds},
          {"over_time", std::move(slots)}};
}

}  // namespace sextant::inline probes
