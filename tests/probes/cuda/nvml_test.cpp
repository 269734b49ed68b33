// Sensors and fabric over one table of NVML's functions, filled by the test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "probes/gpu/libraries/gpu_sensors.h"
#include "probes/gpu/libraries/nvml_fabric.h"
#include "probes/gpu/libraries/nvml_library.h"

namespace sextant {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr NvmlStatus kNotSupported = 3;
constexpr const char* kFirst = "0000:01:00.0";
constexpr const char* kSecond = "0000:02:00.0";

int searches = 0;

// Two of them; only their addresses count.
std::array<char, 2> devices;
NvmlDevice device_of(std::size_t number) { return reinterpret_cast<NvmlDevice>(&devices.at(number)); }

NvmlStatus find_device(const char* bus_id, NvmlDevice* device) {
  ++searches;
  if (std::strcmp(bus_id, kFirst) == 0) *device = device_of(0);
  if (std::strcmp(bus_id, kSecond) == 0) *device = device_of(1);
  return *device == nullptr ? kNotSupported : kNvmlSuccess;
}

NvmlStatus clock_of(NvmlDevice, int kind, unsigned* mhz) {
  *mhz = kind == 1 ? 1980 : 3201;
  return kNvmlSuccess;
}

NvmlStatus power_of(NvmlDevice, unsigned* milliwatt) {
  *milliwatt = 650500;
  return kNvmlSuccess;
}

NvmlStatus no_temperature(NvmlDevice, int, unsigned* celsius) {
  *celsius = 7;  // not to be used
  return kNotSupported;
}

NvmlStatus throttled(NvmlDevice, unsigned long long* bits) {
  *bits = 0x4 | 0x20;
  return kNvmlSuccess;
}

// Link 0 leads to the second GPU, 1 to a switch, 2 is down; there are no others.
NvmlStatus link_state(NvmlDevice, unsigned link, unsigned* is_active) {
  *is_active = link < 2 ? 1 : 0;
  return link < 3 ? kNvmlSuccess : kNotSupported;
}

NvmlStatus link_remote_type(NvmlDevice, unsigned link, int* type) {
  *type = link == 0 ? 0 : 2;
  return kNvmlSuccess;
}

NvmlStatus link_remote_pci(NvmlDevice, unsigned, NvmlPciInfo* info) {
  std::strcpy(info->bus_id.data(), "00000000:02:00.0");
  return kNvmlSuccess;
}

NvmlStatus only_reading(NvmlDevice, NvmlDevice, int index, int* status) {
  *status = index == 0 ? 0 : static_cast<int>(PeerStatus::chipset_not_supported);
  return kNvmlSuccess;
}

NvmlLibrary fake_library() {
  searches = 0;
  NvmlLibrary nvml;
  nvml.device_by_bus_id = find_device;
  nvml.clock = clock_of;
  nvml.power = power_of;
  nvml.temperature = no_temperature;
  nvml.throttle = throttled;
  nvml.link_state = link_state;
  nvml.link_remote_type = link_remote_type;
  nvml.link_remote_pci = link_remote_pci;
  nvml.peer_status = only_reading;
  return nvml;
}

TEST(NvmlSensors, ReadInSiUnitsAndSkipWhatIsNotAnswered) {
  const NvmlLibrary nvml = fake_library();
  const auto sensors = make_nvml_sensors(&nvml, "");
  EXPECT_EQ(sensors->absence(), "");
  const DeviceState state = sensors->read(kFirst);
  EXPECT_EQ(state.sm_clock_hz, 1.98e9);
  EXPECT_EQ(state.memory_clock_hz, 3.201e9);
  EXPECT_NEAR(state.power_w, 650.5, 1e-9);
  EXPECT_EQ(state.temperature_c, 0);
  EXPECT_EQ(state.throttle, "power_cap+thermal");
}

// An answer that did not come is no answer that nothing throttles.
TEST(NvmlSensors, SayWhereItIsNotKnownWhatThrottles) {
  NvmlLibrary nvml = fake_library();
  const auto sensors = make_nvml_sensors(&nvml, "");
  EXPECT_EQ(sensors->read("0000:99:00.0").throttle, kNotAnswered);  // no such device
  nvml.throttle = [](NvmlDevice, unsigned long long*) { return kNotSupported; };
  EXPECT_EQ(sensors->read(kFirst).throttle, kNotAnswered);
  EXPECT_EQ(sensors->read(kFirst).sm_clock_hz, 1.98e9);
  nvml.throttle = [](NvmlDevice, unsigned long long* bits) { return *bits = 0x1, kNvmlSuccess; };  // idle
  EXPECT_EQ(sensors->read(kFirst).throttle, "");
}

TEST(NvmlSensors, LookForADeviceOnce) {
  const NvmlLibrary nvml = fake_library();
  const auto sensors = make_nvml_sensors(&nvml, "");
  for (int read = 0; read < 3; ++read) {
    static_cast<void>(sensors->read(kFirst));
    EXPECT_EQ(sensors->read("0000:99:00.0").sm_clock_hz, 0);  // no such device
  }
  EXPECT_EQ(searches, 2);
}

TEST(NvmlSensors, GoWithoutAFunctionThatADriverLacks) {
  NvmlLibrary nvml = fake_library();
  nvml.power = nullptr;
  EXPECT_EQ(make_nvml_sensors(&nvml, "")->read(kFirst).power_w, 0);
  nvml.throttle = nullptr;
  const auto sensors = make_nvml_sensors(&nvml, "");
  EXPECT_THAT(sensors->absence(), HasSubstr("what throttles"));
  EXPECT_EQ(sensors->read(kFirst).sm_clock_hz, 0);
}

TEST(NvmlFabric, ReadsEveryLinkAndTheWorseOfReadingAndWriting) {
  const NvmlLibrary nvml = fake_library();
  const auto fabric = make_nvml_fabric(&nvml, "");
  EXPECT_EQ(fabric->absence(), "");
  const std::vector<NvLinkEnd> links = fabric->links(kFirst);
  ASSERT_EQ(links.size(), 3U);
  EXPECT_EQ(links[0], (NvLinkEnd{true, NvLinkRemote::gpu, kSecond}));
  EXPECT_EQ(links[1], (NvLinkEnd{true, NvLinkRemote::nvswitch, ""}));
  EXPECT_EQ(links[2], NvLinkEnd{});
  EXPECT_EQ(fabric->peer_status(kFirst, kSecond), PeerStatus::chipset_not_supported);
  EXPECT_EQ(fabric->peer_status(kFirst, "0000:99:00.0"), PeerStatus::unknown);
}

TEST(NvmlFabric, KnowsNothingOfWhatADriverLacks) {
  NvmlLibrary nvml = fake_library();
  nvml.link_remote_type = nullptr;
  nvml.peer_status = nullptr;
  const auto fabric = make_nvml_fabric(&nvml, "");
  EXPECT_EQ(fabric->links(kFirst).front(), (NvLinkEnd{true, NvLinkRemote::other, ""}));
  EXPECT_EQ(fabric->peer_status(kFirst, kSecond), PeerStatus::unknown);
  nvml.link_state = nullptr;
  EXPECT_THAT(fabric->links(kFirst), IsEmpty());
}

TEST(Nvml, BothSayWhyThereIsNone) {
  const std::string reason = "NVML could not be loaded";
  const auto sensors = make_nvml_sensors(nullptr, reason);
  EXPECT_EQ(sensors->absence(), reason + ": clocks, power and throttling are not recorded");
  EXPECT_EQ(sensors->read(kFirst).power_w, 0);
  const auto fabric = make_nvml_fabric(nullptr, reason);
  EXPECT_EQ(fabric->absence(), reason + ": NVLinks and peer status are not known");
  EXPECT_THAT(fabric->links(kFirst), IsEmpty());
  EXPECT_EQ(fabric->peer_status(kFirst, kSecond), PeerStatus::unknown);
}

TEST(Nvml, IsOpenedOnceWithTheSameAnswer) {
  std::string first;
  std::string second;
  EXPECT_EQ(NvmlLibrary::open(first), NvmlLibrary::open(second));
  EXPECT_EQ(first, second);
}

}  // namespace
}  // namespace sextant
