// Runs the contestants of a study, cell by cell.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "lab/reproduce/reproduction.h"
#include "lab/reproduce/study.h"
#include "sextant/coefficients.h"
#include "sextant/planner.h"

namespace sextant::inline lab {

struct StudyCoefficients {
  Coefficients coefficients;
  std::string name;       // of their file
  std::string framework;  // as the file spells it
};

struct StudyOptions {
  Budget budget{2};  // of each search; placements that end by themselves are not cut short
  std::uint64_t seed = 1;
  int threads = 1;
  std::string only;                                 // runs only cells whose name contains it
  const std::atomic<bool>* is_cancelled = nullptr;  // cells that are finished by then are kept
  std::function<void(const std::string& cell)> on_cell = [](const std::string&) {};  // called before each cell
  // Returns the coefficients for a study's framework on a cluster.
  std::function<StudyCoefficients(const std::string& framework, const Cluster& cluster)> coefficients;
};

// Throws Error(bad_input) if no cell matches.
[[nodiscard]] std::vector<const StudyCell*> wanted_cells(const Study& study, const std::string& only);

// Returns one contestant's plan, checked by the planners' verifier. A layout that cannot run is a `problem`.
[[nodiscard]] ReproducedPlan run_contestant(const StudyCell& cell, const Contestant& contestant,
                                            const StudyCoefficients& coefficients, const StudyOptions& options);

// Returns the results with the comparisons whose sides were run.
[[nodiscard]] ReproducedExperiment run_study(const Study& study, const StudyOptions& options);

// Returns the same nodes with devices of one type, none better than the cluster's: the minimum of the memories,
// the mean of rates, and links as within a zone.
[[nodiscard]] Cluster all_alike(const Cluster& cluster);

}  // namespace sextant::inline lab
