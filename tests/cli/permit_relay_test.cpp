#include "cli/coschedule/permit_relay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <thread>

#include "examples/coschedule/phase_client.h"
#include "planner/coschedule/control/local_socket.h"
#include "planner/coschedule/control/permit_server.h"
#include "sextant/error.h"
#include "tests/cli/documents.h"
#include "tests/cli/program.h"

namespace sextant::test {
namespace {

using cli::connect_to_permits;
using cli::permit_key;
using cli::PermitGateway;
using cli::relay_lines;
using cli::RelaySide;
using coschedule::Group;
using coschedule::Job;
using coschedule::OpenFile;
using coschedule::PhaseEvent;
using coschedule::PhaseRecord;
using ::testing::HasSubstr;
using ::testing::Not;

template <typename Run>
std::string refusal(const Run& run) {
  try {
    run();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

Group pair_of_jobs() {
  Group group{"g", 1, 1, {}};
  for (const char* name : {"a", "b"}) {
    Job job;
    job.name = name;
    job.rollout_s = job.training_s = 1;
    group.members.push_back({job, {0}});
  }
  return group;
}

// A permit server, its gateway, and a connection to it without a job.
class PermitNetwork : public ::testing::Test {
 protected:
  PermitNetwork() {
    coschedule::PermitServerOptions options;
    options.is_cancelled = &is_cancelled_;
    options.order = coschedule::ServingOrder::first_come;
    server_ = std::async(std::launch::async,
                         [this, options] { return coschedule::serve_permits(group_, socket(), options).log; });
    while (!std::filesystem::exists(socket())) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    gateway_.emplace(key_, 0, socket());
  }
  ~PermitNetwork() override {
    if (server_.valid()) (void)log();
  }

  [[nodiscard]] std::string socket() const { return folder_.file("permits"); }
  [[nodiscard]] Endpoint endpoint() const { return {"127.0.0.1", gateway_->port()}; }
  std::vector<PhaseRecord> log() {
    is_cancelled_ = true;
    return server_.get();
  }

  // A line as the job's relay signs it; its connection's key is known here.
  static std::string signed_request(const Secret& key, std::uint64_t number, const std::string& line) {
    std::array<std::byte, 8> bytes{};
    for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<std::byte>(number >> (8 * i));
    return line + " " + key.derive({bytes_of("sextant permit request"), bytes, bytes_of(line)}).hex() + "\n";
  }
  static void send(const Connection& connection, const std::string& text) {
    send_all(connection.socket, bytes_of(text), Deadline::in(10));
  }
  // The next line, without its signature; "" if the connection ends.
  static std::string receive(const Connection& connection) {
    std::string line;
    try {
      for (std::byte one{}; line.empty() || line.back() != '\n';) {
        receive_all(connection.socket, {&one, 1}, Deadline::in(10));
        line += static_cast<char>(one);
      }
    } catch (const Error&) {
      return "";
    }
    return line.substr(0, line.find(' '));
  }

  TinyFolder folder_;
  Group group_ = pair_of_jobs();
  Secret key_ = Secret::fresh();
  std::atomic<bool> is_cancelled_ = false;
  std::future<std::vector<PhaseRecord>> server_;
  std::optional<PermitGateway> gateway_;
};

bool has_event(const std::vector<PhaseRecord>& log, const std::string& job, PhaseEvent event) {
  return std::any_of(log.begin(), log.end(),
                     [&](const PhaseRecord& record) { return record.job == job && record.event == event; });
}

// The job uses the same client as on the server's host, through a relay on its own.
TEST_F(PermitNetwork, AJobOfAnotherHostTakesPermits) {
  const OpenFile listener = coschedule::listen_at(folder_.file("remote"));
  std::thread relay([&] {
    OpenFile local;
    while (!local.is_open()) local = coschedule::accept_own_user(listener);
    const Connection remote = connect_to_permits(endpoint(), key_);
    relay_lines(local.number(), remote, RelaySide::job);
  });
  {
    PhaseClient client(folder_.file("remote"), "a");
    { const auto permit = client.acquire("rollout"); }
    const auto permit = client.acquire("training");
    EXPECT_THAT(refusal([&] { (void)client.acquire("sync"); }), HasSubstr("release comes first"));
  }
  relay.join();
  const std::vector<PhaseRecord> events = log();
  EXPECT_TRUE(has_event(events, "a", PhaseEvent::granted));
  EXPECT_EQ(gateway_->refusals().total(), 0U);
}

TEST_F(PermitNetwork, AWrongKeyGetsNothing) {
  EXPECT_THAT(refusal([&] { (void)connect_to_permits(endpoint(), Secret::fresh()); }),
              HasSubstr("most likely --key-file is not the key of coschedule run there"));
  // A service of a probe is none of the gateway's.
  const Connection probe = request_service(endpoint(), key_, {Service::echo, 1}, Deadline::in(10));
  EXPECT_EQ(receive(probe), "");
  EXPECT_EQ(gateway_->refusals().wrong_secret, 1U);
  EXPECT_TRUE(log().empty());
}

// A server that hangs up before it has shown any challenge says nothing about the key.
TEST(PermitConnection, OnlyARefusedKeyIsCalledWrong) {
  const Descriptor listener = listen_on({}, 1);
  std::thread server([&] {
    if (wait_until_readable(listener, Deadline::in(20))) (void)accept_from(listener);
  });
  const std::string reason = refusal([&] {
    (void)connect_to_permits({"127.0.0.1", port_of(listener)}, Secret::fresh());
  });
  server.join();
  EXPECT_THAT(reason, HasSubstr("closed the connection before any key was shown"));
  EXPECT_THAT(reason, Not(HasSubstr("--key-file")));
}

// Everything that an admitted relay sent is sent again on a new connection, and then a line of the same connection.
TEST_F(PermitNetwork, NothingThatWasRecordedIsAcceptedAgain) {
  const Connection first = connect_to_permits(endpoint(), key_);
  const std::string hello = signed_request(first.key, 0, "hello a");
  send(first, hello);
  EXPECT_EQ(receive(first), "ok");
  const Connection second = connect_to_permits(endpoint(), key_);
  send(second, hello);  // of another connection
  EXPECT_EQ(receive(second), "");
  send(first, signed_request(first.key, 1, "acquire rollout"));
  EXPECT_EQ(receive(first), "granted");
  send(first, signed_request(first.key, 1, "acquire rollout"));  // repeated
  EXPECT_EQ(receive(first), "");
  const Connection third = connect_to_permits(endpoint(), key_);
  send(third, signed_request(third.key, 1, "hello b"));  // the first line was left out
  EXPECT_EQ(receive(third), "");
  const Connection fourth = connect_to_permits(endpoint(), key_);
  std::string changed = signed_request(fourth.key, 0, "hello a");
  changed[6] = 'b';
  send(fourth, changed);
  EXPECT_EQ(receive(fourth), "");
  EXPECT_FALSE(has_event(log(), "b", PhaseEvent::joined));
}

// The answer of an admitted relay to the challenge, sent again on a new connection.
TEST_F(PermitNetwork, ARecordedHandshakeIsRefused) {
  const Descriptor middle = listen_on({}, 1);
  Answer recorded{};
  std::thread relay([&] {
    const Deadline deadline = Deadline::in(20);
    if (!wait_until_readable(middle, deadline)) return;
    const Descriptor client = accept_from(middle);
    const Descriptor server = connect_to(endpoint(), deadline);
    Challenge challenge{};
    receive_all(server, challenge, deadline);
    send_all(client, challenge, deadline);
    receive_all(client, recorded, deadline);
    send_all(server, recorded, deadline);
    Mac proof{};
    receive_all(server, proof, deadline);
    send_all(client, proof, deadline);
  });
  EXPECT_EQ(refusal([&] { (void)connect_to_permits({"127.0.0.1", port_of(middle)}, key_); }), "");
  relay.join();
  const Descriptor again = connect_to(endpoint(), Deadline::in(10));
  Challenge challenge{};
  receive_all(again, challenge, Deadline::in(10));
  send_all(again, recorded, Deadline::in(10));
  std::byte one{};
  EXPECT_THROW(receive_all(again, {&one, 1}, Deadline::in(10)), Error);
  EXPECT_EQ(gateway_->refusals().wrong_secret, 1U);
}

// The permit returns when the connection of its job ends, and the other job gets it.
TEST_F(PermitNetwork, AClosedConnectionGivesThePermitBack) {
  PhaseClient other(socket(), "b");
  {
    const Connection job = connect_to_permits(endpoint(), key_);
    send(job, signed_request(job.key, 0, "hello a"));
    EXPECT_EQ(receive(job), "ok");
    send(job, signed_request(job.key, 1, "acquire rollout"));
    EXPECT_EQ(receive(job), "granted");
  }
  { const auto permit = other.acquire("rollout"); }
  EXPECT_TRUE(has_event(log(), "a", PhaseEvent::crashed));
}

TEST(PermitKey, IsForOneUserAlone) {
  const TinyFolder folder;
  const std::string file = folder.file("permits.key");
  EXPECT_THAT(refusal([&] { (void)permit_key(file, false); }), HasSubstr("there is no such key"));
  const Secret made = permit_key(file, true);
  struct stat of {};
  ASSERT_EQ(::stat(file.c_str(), &of), 0);
  EXPECT_EQ(of.st_mode & 0777U, 0600U);
  EXPECT_EQ(permit_key(file, false).hex(), made.hex());
  ASSERT_EQ(::chmod(file.c_str(), 0640), 0);
  EXPECT_THAT(refusal([&] { (void)permit_key(file, false); }), HasSubstr("other users may read this key"));
  ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
  write_text_file(file, "abc\n");
  ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
  EXPECT_THAT(refusal([&] { (void)permit_key(file, false); }), HasSubstr("64 hexadecimal digits"));
  EXPECT_THAT(refusal([&] { (void)permit_key("", true); }), HasSubstr("--key-file is required"));
}

TEST(PermitEndpoint, HasAHostAndAPort) {
  EXPECT_EQ(cli::endpoint_of("node-1:4000"), (Endpoint{"node-1", 4000}));
  EXPECT_EQ(cli::endpoint_of("[fe80::1]:1"), (Endpoint{"fe80::1", 1}));
  for (const char* text : {"node-1", "node-1:", ":4000", "node-1:0", "node-1:70000", "node-1:4x"})
    EXPECT_THAT(refusal([&] { (void)cli::endpoint_of(text); }), HasSubstr("expected HOST:PORT")) << text;
}

// The two commands: a job of "another host" goes through connect, one of the server's host does not.
TEST(PermitCommands, RunAndConnectPassPermitsOn) {
  const TinyFolder folder;
  coschedule::Placement placement;
  placement.pools.rollout = {"r", 1, 0, 1, 0};
  placement.pools.training = {"t", 1, 0, 1, 0};
  placement.groups.push_back(pair_of_jobs());
  save_document(folder.file("placement.json"), placement);
  const Descriptor probe = listen_on({}, 1);
  const std::string port = std::to_string(port_of(probe) == 65535 ? 65534 : port_of(probe) + 1);
  const std::string key = folder.file("permits.key");
  std::future<Printed> run = std::async(std::launch::async, [&] {
    return run_sextant({"coschedule", "run", "--state", folder.file("placement.json"), "--socket",
                        folder.file("here"), "--listen", port, "--key-file", key, "--until-left"});
  });
  while (!std::filesystem::exists(folder.file("here")))
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::future<Printed> connect = std::async(std::launch::async, [&] {
    return run_sextant({"coschedule", "connect", "--server", "127.0.0.1:" + port, "--key-file", key, "--socket",
                        folder.file("there"), "--until-left"});
  });
  while (!std::filesystem::exists(folder.file("there")))
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const auto iterate = [](const std::string& socket, const std::string& job) {
    PhaseClient client(socket, job);
    for (int i = 0; i < 3; ++i) {
      { const auto permit = client.acquire("rollout"); }
      const auto permit = client.acquire("training");
    }
  };
  std::thread other([&] { iterate(folder.file("here"), "b"); });
  iterate(folder.file("there"), "a");
  other.join();
  EXPECT_EQ(connect.get().exit_code, 0);
  const Printed printed = run.get();
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.err, HasSubstr("and at TCP port " + port));
  EXPECT_THAT(printed.out, HasSubstr("left"));
  const std::vector<std::string> wrong{"coschedule", "connect", "--server", "127.0.0.1:" + port,
                                       "--key-file", key,       "--socket", folder.file("there")};
  EXPECT_EQ(run_sextant(wrong).exit_code, 3);  // nobody listens any more
}

}  // namespace
}  // namespace sextant::test
