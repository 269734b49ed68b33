// Writes a journal (journal_text.h).
//
// One program at a time, by a lock on the file; a file system that knows no locks is taken at its word. A
// thread of its own writes, so that a slow disk keeps nobody waiting: what is added goes to the file within a
// moment, all that came in the meantime with one fdatasync.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "sextant/json.h"

namespace sextant {

class JournalFile {
 public:
  // Begins anew: Error(bad_input) when the file has measurements, which a forgotten --resume must not lose, or
  // is no journal of this kind.
  [[nodiscard]] static JournalFile begin(const std::filesystem::path& file, std::string_view kind,
                                         const Json& belongs_to);
  // Goes on after what is there, and cuts off a last line that was not finished. Error(bad_input) when there is
  // no such file, or it belongs to another probe.
  [[nodiscard]] static JournalFile resume(const std::filesystem::path& file, std::string_view kind,
                                          const Json& belongs_to);
  // Both: Error(machine) when another program writes there, or the disk refuses.

  // Writes what was added; what the disk refuses then is lost without a word, so call flush() before.
  ~JournalFile();
  JournalFile(JournalFile&&) noexcept;
  JournalFile(const JournalFile&) = delete;

  // These: Error(machine) when the disk refused something earlier.
  void add(const Json& line);
  void check() const;
  // All that was added is on the disk when it returns.
  void flush();

 private:
  class Thread;

  explicit JournalFile(std::unique_ptr<Thread> thread);
  void add_head(std::string_view kind, const Json& belongs_to);

  std::unique_ptr<Thread> thread_;
};

}  // namespace sextant
