// sextant diff: one file for each kind of documents that it compares; each returns the exit code.
#pragma once

#include <optional>
#include <string>

namespace sextant::cli {

struct DiffOptions {
  std::string before;
  std::string after;
  bool all = false;
  bool json = false;
  // Used for clusters only.
  std::optional<double> threshold_fraction;
  bool any = false;
};

[[nodiscard]] int diff_coefficients(const DiffOptions& options);
[[nodiscard]] int diff_clusters(const DiffOptions& options);

}  // namespace sextant::cli
