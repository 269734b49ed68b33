// Finds the outliers among links that should be equal, such as those of a zone, and describes them.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "probes/outliers/outlier_links.h"

namespace sextant::inline probes {

struct LinkQuantity {
  std::string name;          // "bandwidth"
  bool is_directed = false;  // the two directions of a pair have values of their own
  OddRule rule = {};
};

class EqualLinks {
 public:
  // `where`: "in zone use1a".
  explicit EqualLinks(std::string where) : where_(std::move(where)) {}

  // Adds a value > 0 between two members. Several values of one pair count as their median.
  void add(const LinkQuantity& quantity, const std::string& from, const std::string& to, double value,
           double spread_fraction);

  // Whether there are enough pairs to know what the members have in common.
  [[nodiscard]] bool is_enough() const;

  // "bandwidth in zone use1a: the links of va-3 are 48.0 % below the others (99.9 % sure)"; quantities in the
  // order in which they were added.
  [[nodiscard]] std::vector<std::string> describe_outliers() const;

 private:
  using Ends = std::pair<std::size_t, std::size_t>;
  struct Values {
    std::vector<double> values, spreads;
  };

  std::size_t number_of(const std::string& member);

  std::string where_;
  std::vector<std::string> members_;
  std::vector<std::pair<LinkQuantity, std::map<Ends, Values>>> quantities_;
};

}  // namespace sextant::inline probes
