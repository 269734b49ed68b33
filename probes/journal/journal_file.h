// Writes a journal (journal_text.h).
//
// Only one program may write, enforced by a lock on the file, if the file system supports locks. A thread of
// its own writes, so that a slow disk delays no other thread: added lines are written within a moment, all that
// arrived in the meantime with one fdatasync.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "sextant/json.h"

namespace sextant::inline probes {

class JournalFile {
 public:
  // Starts a new journal. Throws Error(bad_input) if the file has measurements, which a forgotten --resume must
  // not lose, or is not a journal of this kind.
  [[nodiscard]] static JournalFile begin(const std::filesystem::path& file, std::string_view kind,
                                         const Json& belongs_to);
  // Continues after the existing lines, and cuts off an unfinished last line. Throws Error(bad_input) if there
  // is no such file, or it belongs to another probe.
  [[nodiscard]] static JournalFile resume(const std::filesystem::path& file, std::string_view kind,
                                          const Json& belongs_to);
  // Both throw Error(machine) if another program writes there, or on a disk error.

  // Writes added lines; disk errors at this point are not reported, so call flush() before.
  ~JournalFile();
  JournalFile(JournalFile&&) noexcept;
  JournalFile(const JournalFile&) = delete;

  // These functions throw Error(machine) after an earlier disk error.
  void add(const Json& line);
  void check() const;
  // All added lines are on the disk when it returns.
  void flush();

 private:
  class Thread;

  explicit JournalFile(std::unique_ptr<Thread> thread);
  void add_head(std::string_view kind, const Json& belongs_to);

  std::unique_ptr<Thread> thread_;
};

}  // namespace sextant::inline probes
