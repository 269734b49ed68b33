// Ranks of one machine that appear to be on several hosts.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "probes/comm/communicator.h"

namespace sextant {

class OnFakeHosts final : public Communicator {
 public:
  // hosts: by rank.
  OnFakeHosts(Communicator& ranks, std::vector<std::string> hosts) : ranks_(ranks), hosts_(std::move(hosts)) {}

  [[nodiscard]] int rank() const override { return ranks_.rank(); }
  [[nodiscard]] int size() const override { return ranks_.size(); }
  void barrier() override { ranks_.barrier(); }
  void wait_quietly() override { ranks_.wait_quietly(); }
  void all_reduce_sum(std::span<float> values) override { ranks_.all_reduce_sum(values); }
  void all_reduce_sum(std::span<double> values) override { ranks_.all_reduce_sum(values); }
  void all_reduce_max(std::span<float> values) override { ranks_.all_reduce_max(values); }
  void all_reduce_max(std::span<double> values) override { ranks_.all_reduce_max(values); }
  void all_gather(std::span<const float> mine, std::span<float> all) override { ranks_.all_gather(mine, all); }
  void all_gather(std::span<const double> mine, std::span<double> all) override {
    ranks_.all_gather(mine, all);
  }
  void reduce_scatter_sum(std::span<const float> all, std::span<float> mine) override {
    ranks_.reduce_scatter_sum(all, mine);
  }
  void all_to_all(std::span<const float> sent, std::span<float> received) override {
    ranks_.all_to_all(sent, received);
  }
  void broadcast(std::span<std::byte> values, int root) override { ranks_.broadcast(values, root); }
  void send(std::span<const std::byte> values, int to, int tag) override { ranks_.send(values, to, tag); }
  void receive(std::span<std::byte> values, int from, int tag) override { ranks_.receive(values, from, tag); }
  bool send_within(std::span<const std::byte> values, int to, int tag, double limit_s) override {
    return ranks_.send_within(values, to, tag, limit_s);
  }
  bool receive_within(std::span<std::byte> values, int from, int tag, double limit_s) override {
    return ranks_.receive_within(values, from, tag, limit_s);
  }
  bool has_message(int from, int tag) override { return ranks_.has_message(from, tag); }
  void send_buffered(std::span<const std::byte> values, int to, int tag) override {
    ranks_.send_buffered(values, to, tag);
  }
  void finish_sends() override { ranks_.finish_sends(); }
  [[nodiscard]] std::unique_ptr<Communicator> split(int colour, int key) override {
    return ranks_.split(colour, key);
  }
  [[nodiscard]] std::vector<std::string> hosts() override { return hosts_; }

 private:
  Communicator& ranks_;
  std::vector<std::string> hosts_;
};

// Returns host names with `each` ranks on each of node0, node1, ...
[[nodiscard]] inline std::vector<std::string> fake_hosts(int count, int each) {
  std::vector<std::string> hosts;
  hosts.reserve(static_cast<std::size_t>(count) * static_cast<std::size_t>(each));
  for (int rank = 0; rank < count * each; ++rank) hosts.push_back("node" + std::to_string(rank / each));
  return hosts;
}

}  // namespace sextant
