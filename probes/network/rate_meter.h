// The total rate of bytes that arrive over several connections, and whether it has become stable. Takes plain
// numbers, so that it is tested without a network.
//
// Time is divided into equal bins; the rate of a bin is the bytes of all connections in it (interpolated
// linearly between counts). A connection starts slowly, doubling its rate every round trip, so the first bins
// are ignored; if the second half of the rest is still faster than the first by more than a twentieth, the
// first half is ignored too. It is stable if half the 95 % interval of the median is at most the target.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sextant::inline probes {

struct RateMeterOptions {
  int streams = 1;
  double bin_s = 0.05;
  double warm_up_s = 0.3;
  double target_spread_fraction = 0.02;
  int min_bins = 10;
};

struct MeasuredRate {
  double bytes_per_s = 0;          // median over bins of the sum over streams; 0 without a bin
  double slowest_bytes_per_s = 0;  // for one stream, over all bins together
  double spread_fraction = 1;
  int bins = 0;
  double seconds = 0;  // total time of the bins
  bool is_stable = false;
  bool is_growing = false;  // the second half was faster than the first to the end
};

class RateMeter {
 public:
  explicit RateMeter(const RateMeterOptions& options);

  // Adds that `bytes` in all have arrived over the stream until then; times of a stream never decrease.
  void add(int stream, double time_s, std::uint64_t bytes);

  // Returns the rate of all added counts; call it about once per bin.
  [[nodiscard]] MeasuredRate rate() const;

 private:
  struct Count {
    double time_s = 0;
    double bytes = 0;
  };

  [[nodiscard]] double begin_s() const;  // start of the first bin
  [[nodiscard]] double end_s() const;    // time until which all streams are known
  [[nodiscard]] double bytes_until(const std::vector<Count>& counts, double time_s) const;
  [[nodiscard]] double slowest(double from_s, double to_s) const;

  RateMeterOptions options_;
  std::vector<std::vector<Count>> counts_;  // by stream
};

}  // namespace sextant::inline probes
