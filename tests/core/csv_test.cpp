#include "core/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sextant/document.h"
#include "tests/core/expect_error.h"
#include "tests/core/temporary_folder.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

CsvTable parse(std::string_view text) { return parse_csv(text, "runs.csv"); }

// The only row of a table with one column "x" beside a filled one.
CsvRow row_with(const std::string& cell) { return parse("x,y\n" + cell + ",1\n").rows().at(0); }

TEST(CsvTest, ReadsRowsByColumnName) {
  const CsvTable table = parse("gpu,time_ms\nH100,12.5\nA100,25\n");
  EXPECT_THAT(table.columns(), ElementsAre("gpu", "time_ms"));
  ASSERT_EQ(table.rows().size(), 2U);
  EXPECT_EQ(table.rows()[0].text("gpu"), "H100");
  EXPECT_EQ(table.rows()[1].positive("time_ms"), 25);
  EXPECT_EQ(table.rows()[1].line(), 3);
  EXPECT_EQ(table.rows()[1].place(), "runs.csv:3");
}

TEST(CsvTest, UnquotesFields) {
  const CsvTable table = parse("a,b\n\"x, \"\"y\"\"\",\"\"\n\"two\nlines\",z\nlast,row\n");
  ASSERT_EQ(table.rows().size(), 3U);
  EXPECT_THAT(table.rows()[0].cells(), ElementsAre("x, \"y\"", ""));
  EXPECT_THAT(table.rows()[1].cells(), ElementsAre("two\nlines", "z"));
  EXPECT_EQ(table.rows()[2].line(), 5);  // the line end inside quotes counts as a line
}

TEST(CsvTest, TakesBothLineEndsAByteOrderMarkAndNoLastLineEnd) {
  const CsvTable table = parse(
      "\xEF\xBB\xBF"
      "a,b\r\n1,2\r\n\r\n3,\"4\"\n5,");
  ASSERT_EQ(table.rows().size(), 3U);
  EXPECT_THAT(table.columns(), ElementsAre("a", "b"));
  EXPECT_THAT(table.rows()[0].cells(), ElementsAre("1", "2"));
  EXPECT_THAT(table.rows()[1].cells(), ElementsAre("3", "4"));
  EXPECT_EQ(table.rows()[1].line(), 4);
  EXPECT_TRUE(table.rows()[2].is_empty("b"));
}

TEST(CsvTest, TakesATableWithoutRows) { EXPECT_TRUE(parse("a,b\n").rows().empty()); }

TEST(CsvTest, RowsOutliveTheirTable) {
  const CsvRow row = row_with("7");
  EXPECT_EQ(row.count("x"), 7);
}

TEST(CsvTest, ReadsNumbers) {
  EXPECT_EQ(row_with(" 1.5e3 ").number("x"), 1500);
  EXPECT_EQ(row_with("+2").number("x"), 2);
  EXPECT_EQ(row_with("-2").integer("x"), -2);
  EXPECT_EQ(row_with("0").non_negative("x"), 0);
  EXPECT_EQ(row_with("0").count("x"), 0);
}

TEST(CsvTest, ReadsFlagsAndNames) {
  EXPECT_TRUE(row_with("True").flag("x"));
  EXPECT_TRUE(row_with("1").flag("x"));
  EXPECT_FALSE(row_with("no").flag("x"));
  EXPECT_EQ(row_with("fp8").one_of("x", {"bf16", "fp8"}), 1U);
}

TEST(CsvTest, ReadsEmptyCellsAsNothing) {
  const CsvRow row = row_with(" ");
  EXPECT_EQ(row.optional_number("x"), std::nullopt);
  EXPECT_EQ(row.optional_count("x"), std::nullopt);
  EXPECT_EQ(row.optional_text("x"), std::nullopt);
  EXPECT_EQ(row.optional_number("y"), 1);
  EXPECT_EQ(row.optional_count("y"), 1);
  EXPECT_EQ(row.optional_text("y"), "1");
}

TEST(CsvTest, SaysWhereAValueIsWrong) {
  EXPECT_EQ(refusal_of([] { (void)row_with("n/a").positive("x"); }),
            "runs.csv:2: column \"x\": expected a number, got \"n/a\"");
  EXPECT_EQ(refusal_of([] { (void)row_with("-1").positive("x"); }),
            "runs.csv:2: column \"x\": expected a number > 0, got \"-1\"");
  EXPECT_EQ(refusal_of([] { (void)row_with("").count("x", 1); }),
            "runs.csv:2: column \"x\": expected an integer >= 1, got nothing");
  EXPECT_EQ(refusal_of([] { (void)row_with("9").integer("x", 0, 8); }),
            "runs.csv:2: column \"x\": expected an integer >= 0 and <= 8, got \"9\"");
  EXPECT_EQ(refusal_of([] {
              (void)row_with("int8").one_of("x", {"bf16", "fp8"});
            }),
            "runs.csv:2: column \"x\": expected one of bf16, fp8, got \"int8\"");
  EXPECT_EQ(refusal_of([] { row_with("1").fail("x", "not now"); }), "runs.csv:2: column \"x\": not now");
}

TEST(CsvTest, RefusesWhatIsNotANumber) {
  for (const char* cell : {"nan", "inf", "1e999", "1.5x", "0x10", "1 2", "--1", "+-1", "1.5.2"}) {
    EXPECT_THAT(refusal_of([&] { (void)row_with(cell).number("x"); }), HasSubstr("expected a number")) << cell;
  }
  for (const char* cell : {"1.5", "1e3", "9223372036854775808", ""}) {
    EXPECT_THAT(refusal_of([&] { (void)row_with(cell).integer("x"); }), HasSubstr("expected an integer"))
        << cell;
  }
  EXPECT_THAT(refusal_of([&] { (void)row_with("3000000000").count("x"); }), HasSubstr("expected an integer"));
  EXPECT_THAT(refusal_of([&] { (void)row_with("-0.5").non_negative("x"); }), HasSubstr(">= 0"));
  EXPECT_THAT(refusal_of([&] { (void)row_with("maybe").flag("x"); }), HasSubstr("true or false"));
  EXPECT_THAT(refusal_of([&] { (void)row_with("").text("x"); }), HasSubstr("expected text, got nothing"));
}

TEST(CsvTest, RefusesAMissingColumn) {
  EXPECT_EQ(refusal_of([] { (void)row_with("1").number("z"); }), "runs.csv: there is no column \"z\"");
  EXPECT_EQ(refusal_of([] {
              parse("x,y\n").require_columns({"x", "z"});
            }),
            "runs.csv: there is no column \"z\"");
  EXPECT_NO_THROW(parse("x,y\n").require_columns({"y", "x"}));
  EXPECT_TRUE(row_with("1").has_column("y"));
  EXPECT_FALSE(row_with("1").has_column("z"));
}

TEST(CsvTest, RefusesRowsOfAnotherLength) {
  EXPECT_EQ(refusal_of([] { (void)parse("a,b\n1,2\n3\n"); }),
            "runs.csv:3: expected 2 cells, as in the header, got 1");
  EXPECT_EQ(refusal_of([] { (void)parse("a,b\n1,2,3\n"); }),
            "runs.csv:2: expected 2 cells, as in the header, got 3");
}

TEST(CsvTest, RefusesStrayQuotes) {
  EXPECT_EQ(refusal_of([] { (void)parse("a,b\n1,\"2\n3,4\n"); }), "runs.csv:2: a quoted field that never ends");
  EXPECT_EQ(refusal_of([] { (void)parse("a,b\n1,2\"\n"); }),
            "runs.csv:2: a quote inside a field that does not begin with one");
  EXPECT_EQ(refusal_of([] { (void)parse("a,b\n\"1\"2,3\n"); }),
            "runs.csv:2: expected a comma or the end of the line, got \"2\"");
}

TEST(CsvTest, RefusesABadHeader) {
  EXPECT_EQ(refusal_of([] { (void)parse("\n\n"); }),
            "runs.csv: expected a row of column names, got an empty file");
  EXPECT_EQ(refusal_of([] { (void)parse("a,\n"); }), "runs.csv:1: column 2 has no name");
  EXPECT_EQ(refusal_of([] { (void)parse("a,b,a\n"); }), "runs.csv:1: two columns are named \"a\"");
}

TEST(CsvTest, WrittenFieldsReadBack) {
  EXPECT_EQ(csv_field("plain text"), "plain text");
  EXPECT_EQ(csv_field("a, \"b\""), "\"a, \"\"b\"\"\"");
  EXPECT_EQ(csv_field("two\nlines"), "\"two\nlines\"");
  EXPECT_EQ(exact_number(0.1), "0.1");
  EXPECT_EQ(exact_number(3), "3");
}

TEST(CsvTest, NamesTheFileItLoaded) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "t.csv";
  write_text_file(file, "a\nx\n");
  EXPECT_EQ(refusal_of([&] { (void)load_csv(file).rows().at(0).number("a"); }),
            file.string() + ":2: column \"a\": expected a number, got \"x\"");
  EXPECT_THAT(refusal_of([&] { (void)load_csv(folder.path() / "none.csv"); }), HasSubstr("cannot read"));
}

}  // namespace
}  // namespace sextant
