#include "sextant/document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json_value.h"
#include "tests/core/expect_error.h"
#include "tests/core/temporary_folder.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;

struct Note {
  static constexpr std::string_view kKind = "note";
  static constexpr SchemaVersion kVersion{2, 3};
  int number = 0;
  friend bool operator==(const Note&, const Note&) = default;
  static Note parse(const JsonView& view) {
    view.allow_only({"number"});
    return {view.required("number").count(0)};
  }
  [[nodiscard]] Json to_json() const { return {{"number", number}}; }
};

std::string with_schema(const std::string& schema) {
  return R"({"schema": ")" + schema +
         R"(", "provenance": {"tool_version": "t", "command": "c", "time_utc": "2026-01-31T12:00:00Z", "host": "h"},)" +
         R"( "number": 5})";
}

std::string note_refusal(const std::string& text) {
  return refusal_of([&text] { (void)parse_document<Note>(text); });
}

TEST(DocumentTest, ReadsItsOwnVersionAndEarlierMinorOnes) {
  EXPECT_EQ(parse_document<Note>(with_schema("sextant.note/2.3")).content.number, 5);
  const auto document = parse_document<Note>(with_schema("sextant.note/2.0"));
  EXPECT_EQ(document.provenance, (Provenance{"t", "c", "2026-01-31T12:00:00Z", "h"}));
}

TEST(DocumentTest, RefusesAnotherKind) {
  EXPECT_EQ(note_refusal(with_schema("sextant.plan/1.0")),
            "/schema: expected a sextant.note document, got \"sextant.plan/1.0\"");
  EXPECT_EQ(note_refusal(with_schema("sextant.notes/2.3")),
            "/schema: expected a sextant.note document, got \"sextant.notes/2.3\"");
}

TEST(DocumentTest, RefusesOtherVersions) {
  EXPECT_EQ(note_refusal(with_schema("sextant.note/3.0")),
            "/schema: \"sextant.note/3.0\" was written by a newer Sextant; this one reads sextant.note/2.3");
  EXPECT_EQ(note_refusal(with_schema("sextant.note/2.4")),
            "/schema: \"sextant.note/2.4\" was written by a newer Sextant; this one reads sextant.note/2.3");
  EXPECT_EQ(note_refusal(with_schema("sextant.note/1.9")),
            "/schema: \"sextant.note/1.9\" was written by an older Sextant; this one reads sextant.note/2.3");
  for (const char* version : {"2", "2.", "2.3x", "-2.3", "x", "", "2.-1", "99999999999.0"}) {
    EXPECT_EQ(note_refusal(with_schema("sextant.note/" + std::string(version))),
              "/schema: expected a version like \"sextant.note/2.3\", got \"sextant.note/" +
                  std::string(version) + "\"");
  }
}

TEST(DocumentTest, RefusesWhatIsNoDocument) {
  EXPECT_EQ(note_refusal("{}"),
            "expected a document with \"schema\": \"sextant.note/2.3\", got an object without \"schema\"");
  EXPECT_EQ(note_refusal("[1]"), "expected a document with \"schema\": \"sextant.note/2.3\", got an array");
  EXPECT_EQ(note_refusal(" \n"), "the file is empty; expected a sextant.note document");
  EXPECT_EQ(note_refusal(R"({"schema": 3})"), "/schema: expected a string that is not empty, got 3");
}

TEST(DocumentTest, WrittenByHandMayHaveCommentsAndNoProvenance) {
  const auto document = parse_document<Note>(R"(// my note
      {"$schema": "https://example.org/note.schema.json", "schema": "sextant.note/2.3", /* five */ "number": 5})");
  EXPECT_EQ(document.content.number, 5);
  EXPECT_EQ(document.provenance, Provenance{});
  EXPECT_EQ(note_refusal(R"({"schema": "sextant.note/2.3", "provenance": {}, "number": 5})"),
            "/provenance: missing member \"tool_version\"");
  EXPECT_NE(note_refusal(R"({"schema": "sextant.note/2.3", "number": 5 /* no end)"), "");
}

TEST(DocumentTest, WritesWhatItReads) {
  const Document<Note> document{{"t", "c", "2026-01-31T12:00:00Z", "h"}, {7}};
  const std::string text = format_document(document);
  EXPECT_THAT(text, ::testing::StartsWith("{\n  \"schema\": \"sextant.note/2.3\",\n  \"provenance\": {"));
  const auto back = parse_document<Note>(text);
  EXPECT_EQ(back.content, document.content);
  EXPECT_EQ(back.provenance, document.provenance);
  EXPECT_EQ(format_document(Document<Note>{{}, {7}}),
            "{\n  \"schema\": \"sextant.note/2.3\",\n  \"number\": 7\n}\n");
}

TEST(DocumentTest, FilesCarryTheProvenanceOfTheProcess) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "sub" / "note.json";
  save_document(file, Note{9});
  const auto back = load_document<Note>(file);
  EXPECT_EQ(back.content.number, 9);
  EXPECT_THAT(back.provenance.tool_version, HasSubstr("sextant "));
}

TEST(DocumentTest, MessagesStartWithTheFile) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "note.json";
  const auto load = [&file] { (void)load_document<Note>(file); };
  write_text_file(file, "");
  EXPECT_EQ(refusal_of(load), file.string() + ": the file is empty; expected a sextant.note document");
  write_text_file(file, with_schema("sextant.plan/1.0"));
  EXPECT_THAT(refusal_of(load), HasSubstr(file.string() + ": /schema: expected a sextant.note document"));
}

}  // namespace
}  // namespace sextant
