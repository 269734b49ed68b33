// Chunks on disk: what is written is read, and what happens to files in between harms nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "probes/trace/record/chunk_reader.h"
#include "probes/trace/record/chunk_writer.h"
#include "probes/trace/record/crc32.h"

namespace sextant::trace {
namespace {

Record kernel(std::uint64_t start) {
  Record record;
  record.kind = RecordKind::kernel;
  record.device = 3;
  record.stream = 7;
  record.correlation = 9;
  record.start = start;
  record.end = start + 5;
  record.value = 1;
  return record;
}

// `chunks` chunks of two kernels each, with a process chunk before them.
std::vector<std::string> some_chunks(int chunks) {
  std::vector<std::string> all{make_chunk(ChunkType::process, 0, R"({"pid":1})")};
  for (int i = 1; i <= chunks; ++i) {
    RecordBatch batch;
    batch.add(kernel(std::uint64_t{100} * static_cast<unsigned>(i)), "first");
    batch.add(kernel(std::uint64_t{100} * static_cast<unsigned>(i) + 50U), "second");
    all.push_back(make_chunk(ChunkType::records, static_cast<std::uint64_t>(i), batch.seal()));
  }
  return all;
}

std::string joined(const std::vector<std::string>& chunks) {
  std::string all;
  for (const std::string& chunk : chunks) all += chunk;
  return all;
}

TEST(Crc32, IsThatOfZlib) {
  const std::string text = "123456789";  // the check value of the algorithm's catalogue entry
  EXPECT_EQ(crc32({reinterpret_cast<const unsigned char*>(text.data()), text.size()}), 0xCBF43926U);
}

TEST(Chunks, AreReadAsWritten) {
  const std::string bytes = joined(some_chunks(2));
  const ReadChunks read = read_chunks(bytes);
  EXPECT_TRUE(read.is_whole());
  ASSERT_EQ(read.texts.size(), 1U);
  EXPECT_EQ(read.texts[0].text, R"({"pid":1})");
  ASSERT_EQ(read.records.size(), 4U);
  EXPECT_EQ(read.records[0].name, "first");
  EXPECT_EQ(read.records[3].name, "second");
  EXPECT_EQ(read.records[2].record.start, 200U);
  EXPECT_EQ(read.records[2].record.device, 3);
  EXPECT_EQ(read.records[2].record.correlation, 9U);
}

TEST(Chunks, NamesAreStoredOnceAndLongOnesAreCut) {
  RecordBatch batch;
  const std::string longest(2 * kLongestName, 'x');
  batch.add(kernel(1), longest);
  const std::size_t once = batch.bytes();
  batch.add(kernel(2), longest);
  EXPECT_EQ(batch.bytes(), once + sizeof(Record));
  const std::string bytes = make_chunk(ChunkType::records, 0, batch.seal());
  EXPECT_TRUE(batch.empty());
  EXPECT_EQ(read_chunks(bytes).records[1].name, std::string(kLongestName, 'x'));
}

// A killed process: every length that a file can be cut to.
TEST(Chunks, OfATruncatedFileAllWholeOnesAreRead) {
  const std::vector<std::string> chunks = some_chunks(3);
  const std::string bytes = joined(chunks);
  for (std::size_t length = 0; length <= bytes.size(); ++length) {
    std::size_t whole = 0, at = 0;
    while (whole < chunks.size() && at + chunks[whole].size() <= length) at += chunks[whole++].size();
    const ReadChunks read = read_chunks(std::string_view(bytes).substr(0, length));
    EXPECT_EQ(read.records.size(), whole > 1 ? 2 * (whole - 1) : 0) << length;
    EXPECT_EQ(read.damaged_bytes, length - at) << length;
  }
}

TEST(Chunks, LostOnesAreCountedAndTheOthersStandAlone) {
  std::vector<std::string> chunks = some_chunks(4);
  chunks.erase(chunks.begin() + 2, chunks.begin() + 4);
  const std::string bytes = joined(chunks);
  const ReadChunks read = read_chunks(bytes);
  EXPECT_EQ(read.lost_chunks, 2U);
  ASSERT_EQ(read.records.size(), 4U);
  EXPECT_EQ(read.records[3].record.start, 450U);
  EXPECT_EQ(read.records[3].name, "second");
}

TEST(Chunks, AreSortedAndTakenOnce) {
  std::vector<std::string> chunks = some_chunks(3);
  std::swap(chunks[0], chunks[3]);
  chunks.push_back(chunks[1]);
  const std::string bytes = joined(chunks);
  const ReadChunks read = read_chunks(bytes);
  EXPECT_EQ(read.repeated_chunks, 1U);
  EXPECT_EQ(read.lost_chunks, 0U);
  ASSERT_EQ(read.records.size(), 6U);
  for (std::size_t i = 1; i < 6; ++i) EXPECT_LT(read.records[i - 1].record.start, read.records[i].record.start);
}

TEST(Chunks, AFlippedBitCostsItsOwnChunkOnly) {
  const std::vector<std::string> chunks = some_chunks(3);
  const std::string bytes = joined(chunks);
  const std::size_t second = chunks[0].size() + chunks[1].size();
  for (std::size_t at = second; at < second + chunks[2].size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      const ReadChunks read = read_chunks(damaged);
      EXPECT_EQ(read.records.size(), 4U) << at;
      EXPECT_EQ(read.damaged_bytes, chunks[2].size()) << at;
      EXPECT_EQ(read.lost_chunks, 1U) << at;
    }
  }
}

// Strings and counts that lie: the checksum is right, the payload is not of the form.
TEST(Chunks, PayloadsThatLieAreNotBelieved) {
  std::mt19937 random(1);
  RecordBatch batch;
  for (unsigned i = 0; i < 20; ++i) batch.add(kernel(i), "name " + std::to_string(i % 5));
  const std::string sound = batch.seal();
  for (int round = 0; round < 20'000; ++round) {
    std::string payload = sound;
    for (int changes = 0; changes < 3; ++changes)
      payload[random() % payload.size()] = static_cast<char>(random());
    if (round % 3 == 0) payload.resize(random() % payload.size());
    const std::string bytes = make_chunk(ChunkType::records, 0, payload);
    const ReadChunks read = read_chunks(bytes);
    EXPECT_LE(read.records.size(), 20U);
    for (const NamedRecord& named : read.records) EXPECT_LE(named.name.size(), payload.size());
  }
}

TEST(Chunks, OfNoiseNothingIsRead) {
  std::mt19937 random(2);
  for (int round = 0; round < 200; ++round) {
    std::string noise(random() % 4096, '\0');
    for (char& c : noise) c = static_cast<char>(random());
    const ReadChunks read = read_chunks(noise);
    EXPECT_TRUE(read.records.empty());
    EXPECT_EQ(read.damaged_bytes, noise.size());
  }
}

}  // namespace
}  // namespace sextant::trace
