// The tables that Sailor's plans and profiles are read with: GPU types (rates are the facts'), models, and
// links from curves of bandwidth.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "calibrate/import/records/facts.h"
#include "core/csv.h"
#include "sextant/cluster.h"
#include "sextant/json.h"
#include "sextant/model.h"

namespace sextant {

struct SailorGpu {
  std::string name;  // as in the facts
  DeviceType type;   // with fp32 and tf32; where there are no such units tf32 runs at the rate of fp32
  int per_node = 0;
  bool pairs_have_links =
      false;  // each pair in a node its own, so that a group of t uses t - 1 of them at once
};

struct SailorModel {
  Model model;
  int tokens = 0;       // of a sequence
  int plan_layers = 0;  // as the source counts: with embedding, head and the norm before it
};

// Bandwidth of a message of m bytes: quadratic x^2 + linear x + constant, x = log2(m / 1e6), at most `most`; in
// bytes/s of all pairs that send at once.
struct BandwidthCurve {
  double quadratic = 0;
  double linear = 0;
  double constant = 0;
  double max_bytes_per_s = 0;
  double positive_from_bytes = 1;
  int pairs = 1;
};

// Of one pair among those: latency and rate whose time of n bytes is nearest to the curve's, by relative error
// over its positive range up to 1 GiB. Error(bad_input) when the curve has no such range.
[[nodiscard]] LinkRate fit_link(const BandwidthCurve& curve);

class SailorTables {
 public:
  explicit SailorTables(const Facts& facts) : facts_(facts) {}

  // Each throws Error(bad_input) with its place. A table of another form is not taken (false).
  bool add(const CsvTable& table);
  void add_models(const JsonView& document);
  // After all tables: Error(bad_input) naming what lacks.
  void check() const;

  [[nodiscard]] const SailorGpu* gpu(const std::string& type) const;      // null: unknown here or to the facts
  [[nodiscard]] const SailorModel* model(const std::string& name) const;  // null: unknown
  // Between two of `devices` devices of a node that form one group; nothing without a curve. The curve of the
  // most devices up to that many stands for more.
  [[nodiscard]] std::optional<LinkRate> within_node(const std::string& type, int devices) const;
  // One device of a node to one of another.
  [[nodiscard]] std::optional<LinkRate> between_nodes(const std::string& from, const std::string& to) const;
  // `devices` of a node to as many of another, all together, or fewer where no curve has so many.
  [[nodiscard]] std::optional<double> network_bytes_per_s(const std::string& from, const std::string& to,
                                                          int devices) const;

 private:
  using Ends = std::tuple<std::string, std::string, int>;  // sender, receiver, GPUs of each

  void add_types(const CsvTable& table);
  void add_curves(const CsvTable& table);

  const Facts& facts_;
  std::map<std::string, SailorGpu> gpus_;
  std::map<std::string, SailorModel> models_;
  std::map<Ends, BandwidthCurve> within_;
  std::map<Ends, BandwidthCurve> between_;
};

}  // namespace sextant
