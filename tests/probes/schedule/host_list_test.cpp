#include "probes/schedule/host_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sextant/error.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;

TEST(HostList, FillsInWhatIsUsual) {
  const auto hosts = parse_host_list("va-1\n", "hosts.txt");
  ASSERT_EQ(hosts.size(), 1U);
  EXPECT_EQ(hosts[0].name, "va-1");
  EXPECT_EQ(hosts[0].region, "local");
  EXPECT_EQ(hosts[0].zone, "local");
  EXPECT_EQ(hosts[0].target, "va-1");
  EXPECT_EQ(hosts[0].address, "va-1");
  EXPECT_EQ(hosts[0].program, "");
}

TEST(HostList, ReadsWhatDiffers) {
  const auto hosts = parse_host_list(
      "# the first\n\n  va-1 region=us-east-1 zone=use1a  # in Virginia\n"
      "oh-1 region=us-east-2 target=ubuntu@3.1.2.3 program=/opt/sextant\r\n"
      "oh-2 region=us-east-2 target=ubuntu@3.1.2.4 address=10.0.0.4\n",
      "hosts.txt");
  ASSERT_EQ(hosts.size(), 3U);
  EXPECT_EQ(hosts[0].zone, "use1a");
  EXPECT_EQ(hosts[1].zone, "us-east-2");
  EXPECT_EQ(hosts[1].address, "3.1.2.3");  // without the user
  EXPECT_EQ(hosts[1].program, "/opt/sextant");
  EXPECT_EQ(hosts[2].address, "10.0.0.4");
}

TEST(HostList, WhatIsNoTextIsRefusedWithItsLine) {
  for (const std::string& line :
       {std::string("va-2\0 region=x", 14), std::string("va-\xff"), std::string("va\x1b")}) {
    try {
      static_cast<void>(parse_host_list("va-1\n" + line + "\n", "hosts.txt"));
      FAIL() << line;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_input);
      EXPECT_STREQ(error.what(), "hosts.txt:2: expected a text file");
    }
  }
}

struct Bad {
  const char* text;
  const char* why;
};

class BadHostList : public ::testing::TestWithParam<Bad> {};

TEST_P(BadHostList, IsRefusedWithItsLine) {
  try {
    static_cast<void>(parse_host_list(GetParam().text, "hosts.txt"));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_input);
    EXPECT_THAT(error.what(), HasSubstr(GetParam().why));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, BadHostList,
    ::testing::Values(Bad{"", "hosts.txt: expected at least one host"},
                      Bad{"# nobody\n", "expected at least one host"},
                      Bad{"a\na\n", "hosts.txt:2: another host is named a already"},
                      Bad{"a slots=8\n", "hosts.txt:1: expected region= zone="},
                      Bad{"a ubuntu@b\n", "got \"ubuntu@b\""}, Bad{"a zone=\n", "zone= has no value"},
                      Bad{"a zone=x zone=y\n", "zone= is given twice"},
                      Bad{"region=x\n", "expected the host's name at the start of the line"},
                      Bad{"-oProxyCommand=x\n", "expected the host's name at the start of the line"},
                      Bad{"-x\n", "is not a valid host name"}, Bad{"a/b\n", "is not a valid host name"},
                      Bad{"a target=-x\n", "is not a valid target"},
                      Bad{"a region=r zone=z\nb region=s zone=z\n", "hosts.txt:2: zone z is in region r"}));

}  // namespace
}  // namespace sextant
