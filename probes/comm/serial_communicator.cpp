#include <unistd.h>

#include <algorithm>
#include <array>

#include "probes/comm/communicator.h"
#include "probes/comm/host_name.h"
#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

template <typename T>
void copy_all(std::span<const T> mine, std::span<T> all) {
  SEXTANT_CHECK(mine.size() == all.size());
  std::copy(mine.begin(), mine.end(), all.begin());
}

class SerialCommunicator final : public Communicator {
 public:
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 1; }
  void barrier() override {}
  void wait_quietly() override {}
  void all_reduce_sum(std::span<float>) override {}
  void all_reduce_sum(std::span<double>) override {}
  void all_reduce_max(std::span<float>) override {}
  void all_reduce_max(std::span<double>) override {}
  void all_gather(std::span<const float> mine, std::span<float> all) override { copy_all(mine, all); }
  void all_gather(std::span<const double> mine, std::span<double> all) override { copy_all(mine, all); }
  void reduce_scatter_sum(std::span<const float> all, std::span<float> mine) override { copy_all(all, mine); }
  void all_to_all(std::span<const float> sent, std::span<float> received) override { copy_all(sent, received); }
  void broadcast(std::span<std::byte>, int root) override { check_peer(root); }
  void send(std::span<const std::byte>, int, int) override { no_peer(); }
  void receive(std::span<std::byte>, int, int) override { no_peer(); }
  bool send_within(std::span<const std::byte>, int, int, double) override { no_peer(); }
  bool receive_within(std::span<std::byte>, int, int, double) override { no_peer(); }
  bool has_message(int, int) override { no_peer(); }
  void send_buffered(std::span<const std::byte>, int, int) override { no_peer(); }
  void finish_sends() override {}

  [[nodiscard]] std::unique_ptr<Communicator> split(int colour, int) override {
    return colour < 0 ? nullptr : make_serial_communicator();
  }

  [[nodiscard]] std::vector<std::string> hosts() override {
    std::array<char, 256> name{};
    if (gethostname(name.data(), name.size() - 1) != 0) return {"localhost"};
    return {host_name(process_environment(), name.data())};
  }

 private:
  static void check_peer(int rank) {
    if (rank != 0) no_peer();
  }
  [[noreturn]] static void no_peer() {
    throw_machine_failed(
        "cannot send to another rank: this job has a single rank; start it with mpirun -n <ranks>");
  }
};

}  // namespace

std::unique_ptr<Communicator> make_serial_communicator() { return std::make_unique<SerialCommunicator>(); }

}  // namespace sextant::inline probes
