#include "calibrate/import/tables/sailor_tables.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sextant {
namespace {

constexpr const char* kCurveNote = "two-parameter fit to the source's curve of NCCL send and receive";

bool has_columns(const CsvTable& table, std::initializer_list<std::string_view> columns) {
  return std::all_of(columns.begin(), columns.end(),
                     [&table](std::string_view column) { return table.has_column(column); });
}

Quantity from_curve(double value) { return {value, Source::measured, std::nullopt, std::nullopt, kCurveNote}; }

double bandwidth(const BandwidthCurve& curve, double bytes) {
  const double x = std::log2(bytes / 1e6);
  return std::min(curve.quadratic * x * x + curve.linear * x + curve.constant, curve.max_bytes_per_s);
}

// Bytes of a message and the time of one pair to send it.
struct Message {
  double bytes;
  double time_s;
};

std::vector<Message> messages(const BandwidthCurve& curve) {
  constexpr double kLargest = 1024.0 * 1024.0 * 1024.0;  // what the source measured up to
  constexpr double kNearZero = 0.02;                     // next to its zero a parabola says nothing about time
  std::vector<Message> out;
  for (double bytes = curve.positive_from_bytes; bytes <= kLargest; bytes *= 2) {
    const double rate = bandwidth(curve, bytes);
    if (rate > kNearZero * curve.max_bytes_per_s) out.push_back({bytes, bytes * curve.pairs / rate});
  }
  return out;
}

BandwidthCurve curve_of(const CsvRow& row, int pairs) {
  return {.quadratic = row.number("quadratic_bytes_per_s"),
          .linear = row.number("linear_bytes_per_s"),
          .constant = row.number("constant_bytes_per_s"),
          .max_bytes_per_s = row.positive("max_bandwidth_bytes_per_s"),
          .positive_from_bytes = row.positive("curve_positive_from_bytes"),
          .pairs = pairs};
}

}  // namespace

// Linear in latency a and seconds a byte c: minimises the sum of ((a + c m) / t - 1)^2.
LinkRate fit_link(const BandwidthCurve& curve) {
  double aa = 0, ac = 0, cc = 0, a1 = 0, c1 = 0;
  const std::vector<Message> sent = messages(curve);
  for (const auto& [bytes, time_s] : sent) {
    const double a = 1 / time_s, c = bytes / time_s;
    aa += a * a;
    ac += a * c;
    cc += c * c;
    a1 += a;
    c1 += c;
  }
  constexpr std::size_t kFewest = 2;
  if (sent.size() < kFewest)
    throw_bad_input("a curve of bandwidth is positive for fewer than two message sizes");
  const double latency_s = std::max(0.0, (a1 * cc - c1 * ac) / (aa * cc - ac * ac));
  const double s_per_byte = (c1 - latency_s * ac) / cc;
  return {from_curve(latency_s), from_curve(1 / s_per_byte)};
}

bool SailorTables::add(const CsvTable& table) {
  if (has_columns(table, {"scope", "quadratic_bytes_per_s"})) {
    add_curves(table);
  } else if (has_columns(table, {"gpu_type", "gpus_per_node", "memory_bytes"})) {
    add_types(table);
  } else {
    return false;
  }
  return true;
}

void SailorTables::add_types(const CsvTable& table) {
  for (const CsvRow& row : table.rows()) {
    const std::string& type = row.text("gpu_type");
    const double memory_bytes = row.positive("memory_bytes");
    const int per_node = row.count("gpus_per_node", 1);
    if (!facts_.has_gpu(type)) continue;
    const Gpu& known = facts_.gpu(type);
    SailorGpu gpu{known.name, known.type, per_node, false};
    const auto vectors = known.type.flop_per_s.find(Precision::fp32);
    if (vectors == known.type.flop_per_s.end()) row.fail("gpu_type", "the facts have no rate of fp32 for it");
    gpu.type.flop_per_s.emplace(Precision::tf32, assumed(vectors->second.value, "no TF32 units: fp32 runs"));
    gpu.type.memory_bytes = datasheet(memory_bytes, "Sailor's configuration");
    if (table.has_column("links_within_node")) {
      gpu.pairs_have_links = row.one_of("links_within_node", {"shared", "pairs"}) == 1;
    }
    gpus_.insert_or_assign(type, std::move(gpu));
  }
}

// Zones repeat the curves without one, so the first of several stands. Unequal numbers of GPUs at the ends
// repeat the curve of the smaller.
void SailorTables::add_curves(const CsvTable& table) {
  for (const CsvRow& row : table.rows()) {
    const int gpus = row.count("send_gpu_count", 1);
    const Ends ends{row.text("send_gpu_type"), row.text("receive_gpu_type"), gpus};
    const std::size_t scope = row.one_of("scope", {"intra_node", "inter_node", "inter_zone"});
    if (gpus != row.count("receive_gpu_count", 1)) continue;
    if (scope == 0) within_.emplace(ends, curve_of(row, std::max(1, gpus / 2)));
    if (scope == 1) between_.emplace(ends, curve_of(row, gpus));
  }
}

void SailorTables::add_models(const JsonView& document) {
  for (const auto& [name, view] : document.required("models").members()) {
    SailorModel entry;
    Model& model = entry.model;
    model.name = name + " (as Sailor profiled it)";
    model.layers = view.required("layers").count(1);
    model.hidden = view.required("hidden").count(1);
    model.heads = view.required("heads").count(1);
    model.kv_heads = model.heads;
    if (model.hidden % model.heads != 0) view.required("heads").fail("expected a divisor of the hidden size");
    model.head_dim = model.hidden / model.heads;
    model.intermediate = view.required("mlp_width").count(1);
    model.gated_mlp = view.required("gated_mlp").flag();
    model.vocabulary = view.required("vocab_entries_padded").count(1);
    model.tied_embeddings = true;
    entry.tokens = view.required("seq_tokens").count(1);
    entry.plan_layers = view.required("profiled_layer_count").count(model.layers + 2);
    models_.insert_or_assign(name, entry);
  }
}

void SailorTables::check() const {
  const auto require = [](bool is_there, const std::string& what) {
    if (!is_there) throw_bad_input("format sailor: no table of " + what + " among the files");
  };
  require(!models_.empty(), "models (models.json)");
  require(!between_.empty() || !within_.empty(), "network curves (network_curves.csv)");
  require(!gpus_.empty(), "GPU types that the facts know (gpu_types.csv)");
}

const SailorGpu* SailorTables::gpu(const std::string& type) const {
  const auto found = gpus_.find(type);
  return found == gpus_.end() ? nullptr : &found->second;
}

const SailorModel* SailorTables::model(const std::string& name) const {
  const auto found = models_.find(name);
  return found == models_.end() ? nullptr : &found->second;
}

std::optional<LinkRate> SailorTables::within_node(const std::string& type, int devices) const {
  for (int count = devices; count > 1; --count) {
    const auto found = within_.find({type, type, count});
    if (found == within_.end()) continue;
    LinkRate link = fit_link(found->second);
    if (gpu(type)->pairs_have_links && devices > 2) {
      link.bytes_per_s.value *= devices - 1;
      link.bytes_per_s.note = std::string(kCurveNote) + ", times " + std::to_string(devices - 1) +
                              ": every pair has links of its own, and a ring uses all of a device's";
    }
    return link;
  }
  return std::nullopt;
}

std::optional<LinkRate> SailorTables::between_nodes(const std::string& from, const std::string& to) const {
  const auto found = between_.find({from, to, 1});
  return found == between_.end() ? std::nullopt : std::optional(fit_link(found->second));
}

std::optional<double> SailorTables::network_bytes_per_s(const std::string& from, const std::string& to,
                                                        int devices) const {
  for (int count = devices; count > 0; --count) {
    const auto found = between_.find({from, to, count});
    if (found != between_.end()) return count * fit_link(found->second).bytes_per_s.value;
  }
  return std::nullopt;
}

}  // namespace sextant
