// Matrix products: shares of the datasheet's rates, of arithmetic and of reading weights.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <tuple>

#include "costmodel/terms/decode.h"
#include "costmodel/terms/smooth.h"
#include "lab/priors/evidence_of.h"
#include "lab/priors/shown_values.h"
#include "sextant/statistics.h"

namespace sextant::inline lab {
namespace {

using enum CoefficientId;
using enum EvidenceRelation;

constexpr const char* kTable = "products.csv";
constexpr double kLargeRows = 4096;          // a micro-batch: arithmetic decides
constexpr double kFewRows = 16;              // reading the weights decides
constexpr double kBeyondCaches = 128 << 20;  // bytes: more than the 126 MB of a B200's L2
constexpr double kReference = 3e14;          // FLOP/s, costmodel/terms/roofline.h
constexpr double kDecodeTile = 64;           // rows, costmodel/terms/decode.h

double peak(const ProductRow& row) { return row.gpu->type.flop_per_s.at(row.precision).value; }
double memory(const ProductRow& row) { return row.gpu->type.memory_bytes_per_s.value; }
double share(const ProductRow& row) { return row.flop() / (row.time_s * peak(row)); }
bool is_plain(const ProductRow& row) { return row.precision == Precision::bf16; }
bool reads_weights(const ProductRow& row) {
  return is_plain(row) && row.m <= kFewRows && row.weight_bytes() >= kBeyondCaches;
}

std::map<std::string, double> medians(const std::map<std::string, std::vector<double>>& values) {
  std::map<std::string, double> out;
  for (const auto& [name, of_gpu] : values) out[name] = median(of_gpu);
  return out;
}

// Training and inference add arithmetic and traffic (compute.h): time = FLOP / (e R) + w bytes / B, one e and w
// a device type.
void sum_of_arithmetic_and_traffic(const std::vector<ProductRow>& rows, std::vector<PriorEvidence>& out) {
  constexpr double kMinRows = 256;
  std::map<std::string, std::vector<WeightedTerm>> terms;
  for (const ProductRow& row : rows) {
    if (!is_plain(row) || row.m < kMinRows) continue;
    terms[row.gpu->name].push_back({row.flop() / peak(row), row.bytes() / memory(row), row.time_s});
  }
  ShownValues efficiency, traffic;
  for (const auto& [gpu, of_gpu] : terms) {
    const auto weights = fit_weights(of_gpu);
    if (of_gpu.size() < 3 || !weights || !(weights->a > 0)) continue;
    efficiency.add(gpu, 1 / weights->a, static_cast<int>(of_gpu.size()));
    traffic.add(gpu, weights->b, static_cast<int>(of_gpu.size()));
  }
  const std::string measure = "per device type, products of 256 rows and more as arithmetic plus traffic: ";
  efficiency.summarize(out, inference_efficiency, at_most, kTable, measure + "share of the rate");
  efficiency.summarize(out, training_efficiency, at_most, kTable, measure + "share of the rate");
  traffic.summarize(out, gemm_traffic_weight, equals, kTable, measure + "weight of the traffic");
}

// The power with which device types' shares fall with their rates, all and with one of them left out.
double exponent(const std::map<std::string, Point>& logs, const std::string& without) {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (const auto& [gpu, point] : logs) {
    if (gpu == without) continue;
    n += 1;
    x += point.x;
    y += point.y;
    xx += point.x * point.x;
    xy += point.x * point.y;
  }
  return -(n * xy - x * y) / (n * xx - x * x);
}

// Enough device types, of rates far enough apart, for a slope with any of them left out.
bool spans_rates(const std::map<std::string, Point>& logs) {
  constexpr std::size_t kMinTypes = 4;
  std::vector<double> rates;
  rates.reserve(logs.size());
  for (const auto& [gpu, point] : logs) rates.push_back(point.x);
  if (rates.size() < kMinTypes) return false;
  std::sort(rates.begin(), rates.end());
  return rates[rates.size() - 2] - rates[0] > std::numbers::ln2 && rates.back() - rates[1] > std::numbers::ln2;
}

// Generation has a share that falls with the rate (roofline.h): share = e (R / 3e14)^-x. Returns x.
double falling_share(const std::vector<ProductRow>& rows, const ReachedRates& reached,
                     std::vector<PriorEvidence>& out) {
  std::map<std::string, Point> logs;
  int large = 0;
  for (const ProductRow& row : rows) {
    if (!is_plain(row) || row.m < kLargeRows) continue;
    ++large;
    logs[row.gpu->name] = {std::log(peak(row) / kReference), std::log(reached.flop_share.at(row.gpu->name))};
  }
  if (!spans_rates(logs)) return 0;
  ShownValues exponents;
  for (const auto& [gpu, point] : logs) exponents.add(gpu, exponent(logs, gpu), 0);
  const double all = exponent(logs, "");
  exponents.add("", all, large);
  exponents.summarize(out, peak_rate_exponent, equals, kTable,
                      "slope of the device types' median shares over their rates, all and one left out");
  ShownValues shares;
  for (const ProductRow& row : rows) {
    if (!is_plain(row) || row.m < kLargeRows) continue;
    shares.add(row.gpu->name, share(row) * std::pow(peak(row) / kReference, all));
  }
  shares.summarize(out, prefill_efficiency, at_most, kTable,
                   "share of the rate in products of 4096 rows and more, carried to 300 TFLOP/s");
  return all;
}

void decode_arithmetic(const std::vector<ProductRow>& rows, double falls, std::vector<PriorEvidence>& out) {
  constexpr double kRows = 1024;
  ShownValues weights;
  for (const ProductRow& row : rows) {
    if (!is_plain(row) || row.m != kRows) continue;
    const double flop = row.flop() / row.m * terms::padded_rows(row.m, kDecodeTile);
    weights.add(row.gpu->name, row.time_s * peak(row) * std::pow(peak(row) / kReference, -falls) / flop);
  }
  weights.summarize(out, decode_flop_weight, at_least, kTable,
                    "time over that of the arithmetic at the falling share, products of 1024 rows");
}

// How far arithmetic and reading run beside each other, where they take similar times: the sharing with which
// both together take what the product took. Both alone are the same product with many rows and with one.
void roofline(const std::vector<ProductRow>& rows, const ReachedRates& reached,
              std::vector<PriorEvidence>& out) {
  constexpr double kRows = 256, kSimilar = 0.3;
  using Shape = std::tuple<std::string, double, double>;
  std::map<Shape, double> reading_s;
  for (const ProductRow& row : rows) {
    if (is_plain(row) && row.m == 1) reading_s[{row.gpu->name, row.n, row.k}] = row.time_s;
  }
  ShownValues shown;
  for (const ProductRow& row : rows) {
    const auto reading = reading_s.find({row.gpu->name, row.n, row.k});
    if (!is_plain(row) || row.m != kRows || reading == reading_s.end()) continue;
    const double arithmetic_s = row.flop() / row.m * terms::padded_rows(row.m, kDecodeTile) /
                                (reached.flop_share.at(row.gpu->name) * peak(row));
    const double longer = std::max(arithmetic_s, reading->second);
    if (std::min(arithmetic_s, reading->second) < kSimilar * longer) continue;
    double low = 0, high = 0.95;
    for (int step = 0; step < 40; ++step) {
      const double middle = std::midpoint(low, high);
      (terms::beside(arithmetic_s, reading->second, middle) > row.time_s ? low : high) = middle;
    }
    shown.add(row.gpu->name, low, 2);
  }
  shown.summarize(out, roofline_sharing, equals, kTable,
                  "products of 256 rows between the time of reading and of arithmetic alone");
}

void narrow_formats(const std::vector<ProductRow>& rows, std::vector<PriorEvidence>& out) {
  using Shape = std::tuple<std::string, double, double, double>;
  const auto shape = [](const ProductRow& row) { return Shape{row.gpu->name, row.m, row.n, row.k}; };
  std::map<Shape, double> plain;
  for (const ProductRow& row : rows) {
    if (is_plain(row) && row.m >= kLargeRows) plain[shape(row)] = share(row);
  }
  ShownValues whole, blocks, fp4;
  for (const ProductRow& row : rows) {
    const auto found = plain.find(shape(row));
    if (is_plain(row) || found == plain.end()) continue;
    ShownValues& of_format = row.precision == Precision::fp4 ? fp4 : row.blockwise ? blocks : whole;
    of_format.add(row.gpu->name, share(row) / found->second, 2);
  }
  const std::string measure = "share of the rate relative to bf16's, casts of activations included: ";
  whole.summarize(out, fp8_efficiency, at_most, kTable, measure + "one scale, constant weights");
  blocks.summarize(out, fp8_efficiency, equals, kTable, measure + "a scale a block");
  fp4.summarize(out, fp4_efficiency, equals, kTable, measure + "NVFP4");
}

}  // namespace

ReachedRates reached_rates(const std::vector<ProductRow>& rows) {
  std::map<std::string, std::vector<double>> flop, bandwidth;
  for (const ProductRow& row : rows) {
    if (is_plain(row) && row.m >= kLargeRows) flop[row.gpu->name].push_back(share(row));
    if (reads_weights(row)) bandwidth[row.gpu->name].push_back(row.weight_bytes() / (row.time_s * memory(row)));
  }
  return {medians(flop), medians(bandwidth)};
}

std::vector<PriorEvidence> evidence_of_products(const std::vector<ProductRow>& rows,
                                                const ReachedRates& reached) {
  std::vector<PriorEvidence> out;
  sum_of_arithmetic_and_traffic(rows, out);
  const double falls = falling_share(rows, reached, out);
  decode_arithmetic(rows, falls, out);
  roofline(rows, reached, out);
  narrow_formats(rows, out);
  ShownValues reading;
  for (const ProductRow& row : rows) {
    if (reads_weights(row)) reading.add(row.gpu->name, row.weight_bytes() / (row.time_s * memory(row)));
  }
  reading.summarize(out, decode_bandwidth_efficiency, at_most, kTable,
                    "weights of 128 MiB and more over time and memory bandwidth, up to 16 rows");
  return out;
}

}  // namespace sextant::inline lab
