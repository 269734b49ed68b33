#include "cli/rank_group.h"

#include <algorithm>
#include <cstdio>
#include <span>

#include "cli/exit_codes.h"

namespace sextant::cli {
namespace {

// How a message begins.
constexpr char kWentWell = '+', kBad = 'b', kFailed = 'm';

int exit_code_of(const Error& error) {
  return error.kind() == ErrorKind::bad_input ? kBadInput : kMachineFailed;
}

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
  const std::vector<std::string> hosts = world.hosts();
  const std::string& here = hosts[static_cast<std::size_t>(rank())];
  ranks_on_host_ = static_cast<int>(std::count(hosts.begin(), hosts.end(), here));
}

std::vector<std::string> RankGroup::exchanged(const std::string& mine) {
  world_.wait_quietly();
  std::vector<double> lengths(static_cast<std::size_t>(size()));
  const auto length = static_cast<double>(mine.size());
  world_.all_gather(std::span<const double>(&length, 1), std::span<double>(lengths));
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
