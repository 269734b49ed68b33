#include "probes/schedule/host_places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sextant/error.h"

namespace sextant {
namespace {

TEST(HostPlaces, WithoutAListAllHostsAreInOneZone) {
  EXPECT_EQ(HostPlaces().of("a"), (HostPlace{"a", "local", "local"}));
  EXPECT_EQ(HostPlaces("east", "rack").of("a"), (HostPlace{"a", "east", "rack"}));
}

TEST(HostPlaces, AreFoundByTheWholeNameElseByTheShortOne) {
  const HostPlaces places({{"va-1", "east", "e1"}, {"va-1.west", "west", "w1"}, {"oh-1.lan", "west", "w2"}});
  EXPECT_EQ(places.of("va-1"), (HostPlace{"va-1", "east", "e1"}));
  EXPECT_EQ(places.of("va-1.west"), (HostPlace{"va-1.west", "west", "w1"}));
  EXPECT_EQ(places.of("oh-1"), (HostPlace{"oh-1", "west", "w2"}));
  EXPECT_EQ(places.of("oh-1.example.org").zone, "w2");
}

TEST(HostPlaces, AHostThatIsNotAmongThemIsNamed) {
  try {
    static_cast<void>(HostPlaces({{"a", "r", "z"}}).of("b"));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_input);
    EXPECT_THAT(error.what(), testing::HasSubstr("the places file has no line for host b"));
  }
}

}  // namespace
}  // namespace sextant
