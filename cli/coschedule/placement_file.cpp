#include "cli/coschedule/placement_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sextant/document.h"
#include "sextant/error.h"

namespace sextant::cli {

PlacementFile::PlacementFile(const std::string& file, Open open_as) : file_(file) {
  if (open_as == Open::old && !exists())
    throw_bad_input(file + ": there is no such file; sextant coschedule create writes one");
  const std::string lock = file + ".lock";
  constexpr int kPermissions = 0644;
  lock_ = open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kPermissions);
  if (lock_ < 0) throw_machine_failed("cannot write " + lock + ": " + std::strerror(errno));
  while (flock(lock_, LOCK_EX) != 0) {
    if (errno != EINTR) throw_machine_failed("cannot lock " + lock + ": " + std::strerror(errno));
  }
}

PlacementFile::~PlacementFile() { close(lock_); }

coschedule::Placement PlacementFile::load() const {
  return load_document<coschedule::Placement>(file_).content;
}

void PlacementFile::save(const coschedule::Placement& placement) const { save_document(file_, placement); }

}  // namespace sextant::cli
