#include "probes/trace/analysis/read_process.h"

#include <limits>

#include "core/json_value.h"
#include "sextant/error.h"

namespace sextant::trace {
namespace {

std::string text_of(const Json& json, const char* member) {
  return json.contains(member) && json[member].is_string() ? json[member].get<std::string>() : "";
}

std::int64_t integer_of(const Json& json, const char* member, std::int64_t otherwise) {
  return json.contains(member) && json[member].is_number_integer() ? json[member].get<std::int64_t>()
                                                                   : otherwise;
}

void take_process(const Json& json, Process& process) {
  process.host = text_of(json, "host");
  process.pid = integer_of(json, "pid", 0);
  process.command = text_of(json, "command");
  const std::int64_t rank = integer_of(json, "rank", -1);
  if (rank >= 0 && rank <= std::numeric_limits<int>::max()) process.rank = static_cast<int>(rank);
}

void take_status(const Json& json, ReadProcess& read) {
  if (json.contains("cupti")) read.process.cupti = text_of(json, "cupti");
  if (json.contains("stopped")) read.process.stopped = text_of(json, "stopped");
  if (json.contains("finished")) read.process.is_finished = true;
  if (!json.contains("device")) return;
  if (json["device"].is_string()) {
    read.process.device_trouble = text_of(json, "device");
  } else {
    const std::int64_t index = integer_of(json, "device", -1);
    if (index >= 0) read.devices[static_cast<int>(index)] = {text_of(json, "name"), text_of(json, "uuid")};
  }
}

// A text that is no JSON object counts as damage: its checksum was right, so a program wrote it so.
void take_texts(ReadProcess& read) {
  for (const TextChunk& chunk : read.chunks.texts) {
    try {
      const Json json = parse_json(chunk.text);
      if (!json.is_object()) continue;
      if (chunk.type == ChunkType::process) take_process(json, read.process);
      if (chunk.type == ChunkType::status) take_status(json, read);
    } catch (const Error&) {
      read.process.damaged_bytes += chunk.text.size();
    }
  }
}

}  // namespace

ReadProcess read_process(const TraceFileText& file) {
  ReadProcess read;
  read.process.file = file.first;
  read.chunks = read_chunks(file.second);
  read.process.lost_chunks = read.chunks.lost_chunks;
  read.process.damaged_bytes = read.chunks.damaged_bytes;
  take_texts(read);
  for (const NamedRecord& named : read.chunks.records) {
    if (named.record.kind == RecordKind::clocks) read.clocks.add(named.record);
  }
  read.clocks.sort();
  return read;
}

}  // namespace sextant::trace
