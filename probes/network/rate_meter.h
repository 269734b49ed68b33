// The rate of bytes that arrive over several connections at once, and whether it has become stable. Fed with
// plain numbers, so that it is tested without a network.
//
// Time is cut into equal bins; the rate of a bin is what all connections took in it (between two counts
// linearly). A connection starts slowly, doubling what it sends every round trip, so the first bins are left
// out; when the second half of what remains is still faster than the first by more than a twentieth, the first
// half goes too. It is stable when half the 95 % interval of the bins' median is at most the target.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sextant {

struct RateMeterOptions {
  int streams = 1;
  double bin_s = 0.05;
  double warm_up_s = 0.3;
  double target_spread_fraction = 0.02;
  int min_bins = 10;
};

struct MeasuredRate {
  double bytes_per_s = 0;          // median over bins of the sum over streams; 0 without a bin
  double slowest_bytes_per_s = 0;  // of one stream, over all bins together
  double spread_fraction = 1;
  int bins = 0;
  double seconds = 0;  // that the bins are of
  bool is_stable = false;
  bool is_growing = false;  // the second half was faster than the first to the last
};

class RateMeter {
 public:
  explicit RateMeter(const RateMeterOptions& options);

  // `bytes` in all have come over the stream until then; times of a stream never go back.
  void add(int stream, double time_s, std::uint64_t bytes);

  // Of what has been added; call it once a bin or so.
  [[nodiscard]] MeasuredRate rate() const;

 private:
  struct Count {
    double time_s = 0;
    double bytes = 0;
  };

  [[nodiscard]] double begin_s() const;  // of the first bin
  [[nodiscard]] double end_s() const;    // until when all streams are known
  [[nodiscard]] double bytes_until(const std::vector<Count>& counts, double time_s) const;
  [[nodiscard]] double slowest(double from_s, double to_s) const;

  RateMeterOptions options_;
  std::vector<std::vector<Count>> counts_;  // by stream
};

}  // namespace sextant
