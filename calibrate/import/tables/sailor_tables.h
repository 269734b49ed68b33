// The tables that Sailor's plans and profiles refer to: GPU types (rates come from the facts), models, and
// links from bandwidth curves.
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
  DeviceType type;   // with fp32 and tf32; without such units tf32 runs at the rate of fp32
  int per_node = 0;
  bool pairs_have_links =
      false;  // each pair in a node has its own link, so that a group of t uses t - 1 of them at once
};

struct SailorModel {
  Model model;
  int tokens = 0;       // per sequence
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

// Fits the link of one pair among those: latency and rate whose time for n bytes is nearest to the curve's, by
// relative error over its positive range up to 1 GiB. Throws Error(bad_input) if the curve has no such range.
[[nodiscard]] LinkRate fit_link(const BandwidthCurve& curve);

class SailorTables {
 public:
  explicit SailorTables(const Facts& facts) : facts_(facts) {}

  // Both throw Error(bad_input) with the place. add returns false for a table of another form.
  bool add(const CsvTable& table);
  void add_models(const JsonView& document);
  // Call it after all tables: throws Error(bad_input) with what is missing.
  void check() const;

  [[nodiscard]] const SailorGpu* gpu(const std::string& type) const;      // null: unknown here or to the facts
  [[nodiscard]] const SailorModel* model(const std::string& name) const;  // null: unknown
  // Returns the link between two of `devices` devices of a node that form one group; nullopt without a curve.
  // The curve with the most devices up to that number stands for larger groups.
  [[nodiscard]] std::optional<LinkRate> within_node(const std::string& type, int devices) const;
  // Returns the link from one device of a node to one of another.
  [[nodiscard]] std::optional<LinkRate> between_nodes(const std::string& from, const std::string& to) const;
  // Returns the rate from `devices` of a node to as many of another, together; fewer if no curve has as many.
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
