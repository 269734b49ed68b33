#include "cli/probe/rank_group.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <span>
#include <utility>

#include "cli/shared/exit_codes.h"

namespace sextant::cli {
namespace {

// How a message begins.
constexpr char kWentWell = '+', kBad = 'b', kFailed = 'm';

int exit_code_of(const Error& error) {
  return error.kind() == ErrorKind::bad_input ? kBadInput : kMachineFailed;
}

// The tags of messages during a search, in frames that transports pass on without waiting for the receiver.
constexpr int kTold = 1, kListeners = 3;
struct Frame {
  std::uint64_t left = 0;  // bytes of the message from here on
  std::array<char, 2040> part{};
};

void throw_if_one_failed(const std::vector<std::string>& all) {
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].front() == kWentWell) continue;
    const ErrorKind kind = all[rank].front() == kBad ? ErrorKind::bad_input : ErrorKind::machine;
    throw FailedOnAll(Error(kind, all[rank].substr(1)), static_cast<int>(rank));
  }
}

}  // namespace

RankGroup::RankGroup(Communicator& world) : world_(world) {
  if (is_alone()) return;
  for (int step = 1; step <= std::min(kListeners, size() - 1); ++step) {
    listeners_.push_back((rank() + step) % size());
    tellers_.push_back({(rank() + size() - step) % size(), 0, {}});
  }
  const std::vector<std::string> hosts = world.hosts();
  const std::string& here = hosts[static_cast<std::size_t>(rank())];
  ranks_on_host_ = static_cast<int>(std::count(hosts.begin(), hosts.end(), here));
}

void RankGroup::tell_next(const std::string& message) {
  for (std::size_t at = 0; at < message.size(); at += Frame{}.part.size()) {
    Frame frame{message.size() - at, {}};
    message.copy(frame.part.data(), frame.part.size(), at);
    for (const int listener : listeners_)
      world_.send_buffered(std::as_bytes(std::span(&frame, 1)), listener, kTold);
    ++told_frames_;
  }
}

void RankGroup::receive_frame(Teller& teller, std::vector<std::string>& whole) {
  Frame frame;
  world_.receive(std::as_writable_bytes(std::span(&frame, 1)), teller.rank, kTold);
  ++teller.frames;
  const bool is_last = frame.left <= frame.part.size();
  teller.begun.append(frame.part.data(), is_last ? frame.left : frame.part.size());
  if (is_last) whole.push_back(std::exchange(teller.begun, {}));
}

std::vector<std::string> RankGroup::told() {
  std::vector<std::string> whole;
  for (Teller& teller : tellers_) {
    while (world_.has_message(teller.rank, kTold)) receive_frame(teller, whole);
  }
  return whole;
}

// Messages under way would keep their sender from ending.
void RankGroup::settle(std::span<const double> frames_by_rank) {
  std::vector<std::string> unheard;
  for (Teller& teller : tellers_) {
    const auto sent = static_cast<std::uint64_t>(frames_by_rank[static_cast<std::size_t>(teller.rank)]);
    while (teller.frames < sent) receive_frame(teller, unheard);
  }
  world_.finish_sends();
}

std::vector<std::string> RankGroup::exchanged(const std::string& mine) {
  world_.wait_quietly();
  std::vector<double> lengths(static_cast<std::size_t>(size())), frames(lengths.size());
  const auto length = static_cast<double>(mine.size()), told = static_cast<double>(told_frames_);
  world_.all_gather(std::span<const double>(&length, 1), std::span<double>(lengths));
  world_.all_gather(std::span<const double>(&told, 1), std::span<double>(frames));
  settle(frames);
  std::vector<std::string> all;
  for (int root = 0; root < size(); ++root) {
    all.push_back(root == rank() ? mine : std::string(static_cast<std::size_t>(lengths[all.size()]), '\0'));
    world_.broadcast(std::as_writable_bytes(std::span(all.back())), root);
  }
  return all;
}

std::vector<std::string> RankGroup::gather(const std::string& mine) {
  std::vector<std::string> all = exchanged(kWentWell + mine);
  throw_if_one_failed(all);
  for (std::string& said : all) said.erase(0, 1);
  return all;
}

void RankGroup::tell(const Error& error) {
  const char kind = error.kind() == ErrorKind::bad_input ? kBad : kFailed;
  throw_if_one_failed(exchanged(kind + std::string(error.what())));
  throw error;  // not reached: this rank said that it failed
}

int RankGroup::first_alone(const std::function<int()>& part) {
  if (is_alone()) return part();
  int code = kDone;
  if (is_first()) {
    try {
      code = part();
    } catch (const Error& error) {
      code = say_failure(FailedOnAll(error, rank()), *this);
    }
  }
  world_.wait_quietly();
  world_.broadcast(std::as_writable_bytes(std::span(&code, 1)), 0);
  return code;
}

int say_failure(const FailedOnAll& failure, const RankGroup& ranks) {
  if (ranks.is_first()) {
    std::fflush(stdout);
    const std::string whose = failure.rank() == 0 ? "" : " [rank " + std::to_string(failure.rank()) + "]";
    std::fprintf(stderr, "sextant%s: %s\n", whose.c_str(), failure.what());
  }
  return exit_code_of(failure);
}

}  // namespace sextant::cli
