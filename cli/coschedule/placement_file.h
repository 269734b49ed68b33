// The file that holds a placement: one process at a time reads, changes and replaces it.
#pragma once

#include <filesystem>
#include <string>

#include "planner/coschedule/group.h"

namespace sextant::cli {

// Waits for its turn: the lock is on a file beside the document, because the document is replaced.
class PlacementFile {
 public:
  enum class Open { old, new_or_old };
  // Throws Error(bad_input) if there must be a file and there is none, Error(machine) if the folder cannot be
  // written.
  explicit PlacementFile(const std::string& file, Open open = Open::old);
  ~PlacementFile();
  PlacementFile(const PlacementFile&) = delete;
  PlacementFile& operator=(const PlacementFile&) = delete;

  [[nodiscard]] coschedule::Placement load() const;
  // Replaces the file atomically.
  void save(const coschedule::Placement& placement) const;
  [[nodiscard]] bool exists() const { return std::filesystem::exists(file_); }

 private:
  std::string file_;
  int lock_ = -1;
};

}  // namespace sextant::cli
