#include "probes/fleet/messages.h"

#include <gtest/gtest.h>

#include "core/json_value.h"
#include "sextant/error.h"

namespace sextant {
namespace {

TEST(Messages, GoThroughText) {
  StartCommand start{Secret::fresh(), "sextant 0.1.0", {4000, 4100}};
  const Json started = parse_json(say(start));
  const StartCommand read = parse_start(JsonView(started));
  EXPECT_EQ(read.secret.hex(), start.secret.hex());
  EXPECT_EQ(read.version, start.version);
  EXPECT_EQ(read.ports, start.ports);

  PairCommand pair{3, {"10.0.0.1", 4000}, {}, 12.5};
  pair.options.streams = 7;
  const Json paired = parse_json(say(pair));
  const PairCommand read_pair = parse_pair(JsonView(paired));
  EXPECT_EQ(read_pair.task, 3);
  EXPECT_EQ(read_pair.to, pair.to);
  EXPECT_EQ(read_pair.options, pair.options);
  EXPECT_EQ(read_pair.limit_s, 12.5);

  const DevicesCommand devices{4, {"--devices", "cpu"}, 60};
  const Json asked = parse_json(say(devices));
  EXPECT_EQ(parse_devices(JsonView(asked)).options, devices.options);

  const Refusals refusals{1, 2, 3, 4, 5};
  const Json refused = refusals.to_json();
  EXPECT_EQ(Refusals::parse(JsonView(refused)), refusals);
}

TEST(Messages, AreOneLineEach) { EXPECT_EQ(say(DevicesCommand{1, {"a\nb"}, 1}).find('\n'), std::string::npos); }

TEST(Messages, ASecretThatIsNoneIsRefused) {
  Json start = parse_json(say(StartCommand{Secret::fresh(), "v", {}}));
  start["secret"] = "12";
  EXPECT_THROW(static_cast<void>(parse_start(JsonView(start))), Error);
}

}  // namespace
}  // namespace sextant
