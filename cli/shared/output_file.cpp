#include "cli/shared/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sextant/error.h"

namespace sextant::cli {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& file, int code) {
  throw_machine_failed("cannot write " + file.string() + ": " + std::strerror(code));
}

}  // namespace

void make_folder(const fs::path& folder) {
  std::error_code fault;
  fs::create_directories(folder, fault);
  if (fault) fail(folder, fault.value());
}

void require_writable(const std::string& option, const fs::path& file) {
  std::error_code fault;
  const fs::file_status status = fs::status(file, fault);
  if (fs::is_directory(status)) fail(file, EISDIR);
  if (fs::exists(status) && !fs::is_regular_file(status)) return;
  const fs::path target = fs::exists(status) ? fs::canonical(file, fault) : file;
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, fault))
    throw_bad_input(option + ": there is no folder " + folder.string() + " for " + file.filename().string() +
                    "; make it first: mkdir -p " + folder.string());
  // Documents are written to a new file of the folder, which then takes the name.
  const std::string trial = target.string() + ".trial-" + std::to_string(::getpid());
  const int descriptor = ::open(trial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) fail(file, errno);
  ::close(descriptor);
  ::unlink(trial.c_str());
}

}  // namespace sextant::cli
