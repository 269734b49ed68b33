#include "tests/probes/cuda/emulation/emulated_nccl.h"

#include <cuda_bf16.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "probes/gpu/libraries/nccl_library.h"
#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

constexpr int kInvalidArgument = 4;
constexpr int kRemoteError = 6;
constexpr std::chrono::seconds kPatience{20};  // a rank that failed never comes

using Bytes = std::vector<std::byte>;

// The ranks of one communicator.
struct Group {
  explicit Group(int count) : ranks(count), sent(static_cast<std::size_t>(count)) {}
  std::mutex mutex;
  std::condition_variable changed;
  int ranks;
  int arrived = 0;
  long generation = 0;
  std::vector<const void*> sent;                             // of the collective under way, by rank
  std::map<std::pair<int, int>, std::deque<Bytes>> letters;  // by sender and receiver

  // False when somebody did not come.
  bool meet() {
    std::unique_lock lock(mutex);
    const long mine = generation;
    if (++arrived == ranks) {
      arrived = 0;
      ++generation;
      changed.notify_all();
      return true;
    }
    return changed.wait_for(lock, kPatience, [&] { return generation != mine; });
  }
};

std::mutex registry_mutex;
std::map<std::string, std::shared_ptr<Group>> groups;  // by id
std::atomic<int> ids{0};
std::atomic<int> communicators{0};
std::atomic<int> spoiled_rank{-1};

}  // namespace

struct ncclComm {
  std::shared_ptr<Group> group;
  int rank = 0;
};

namespace {

std::size_t size_of(int type) { return type == kNcclFp32 ? 4 : type == kNcclBf16 ? 2 : 1; }

// Separate, or `part` is where the rank's part of `whole` is.
bool is_placed_right(const void* whole, std::size_t whole_bytes, const void* part, std::size_t part_bytes,
                     std::size_t offset) {
  const auto* first = static_cast<const std::byte*>(whole);
  const auto* other = static_cast<const std::byte*>(part);
  const bool is_apart = other + part_bytes <= first || first + whole_bytes <= other;
  const bool is_in_place = other == first + offset;
  return emulated_device_memory(whole, whole_bytes) && emulated_device_memory(part, part_bytes) &&
         (is_apart || is_in_place);
}

void deliver(const ncclComm& comm, void* to, const Bytes& bytes) {
  std::memcpy(to, bytes.data(), bytes.size());
  if (comm.rank == spoiled_rank && !bytes.empty()) {
    static_cast<std::byte*>(to)[bytes.size() - 1] ^= std::byte{1};
  }
}

// Every rank makes its own result from what all send.
int together(NcclComm comm, const void* send, void* receive,
             const std::function<Bytes(const std::vector<const void*>&)>& result) {
  Group& group = *comm->group;
  {
    const std::lock_guard lock(group.mutex);
    group.sent[static_cast<std::size_t>(comm->rank)] = send;
  }
  if (!group.meet()) return kRemoteError;
  const Bytes mine = result(group.sent);
  if (!group.meet()) return kRemoteError;  // nobody reads what is overwritten now
  deliver(*comm, receive, mine);
  return group.meet() ? kNcclSuccess : kRemoteError;
}

Bytes bytes_at(const void* from, std::size_t offset, std::size_t bytes) {
  const auto* first = static_cast<const std::byte*>(from) + offset;
  return {first, first + bytes};
}

Bytes sum_at(const std::vector<const void*>& sent, std::size_t first, std::size_t count, int type) {
  Bytes result(count * size_of(type));
  for (std::size_t at = 0; at < count; ++at) {
    float sum = 0;
    for (const void* one : sent) {
      sum += type == kNcclFp32 ? static_cast<const float*>(one)[first + at]
                               : __bfloat162float(static_cast<const __nv_bfloat16*>(one)[first + at]);
    }
    if (type == kNcclFp32) {
      std::memcpy(result.data() + at * 4, &sum, 4);
    } else {
      const __nv_bfloat16 rounded = __float2bfloat16(sum);
      std::memcpy(result.data() + at * 2, &rounded, 2);
    }
  }
  return result;
}

int all_reduce(const void* send, void* receive, std::size_t count, int type, int operation, NcclComm comm,
               NcclStream) {
  const std::size_t bytes = count * size_of(type);
  if (operation != kNcclSum || !is_placed_right(receive, bytes, send, bytes, 0)) return kInvalidArgument;
  return together(comm, send, receive, [=](const auto& sent) { return sum_at(sent, 0, count, type); });
}

int all_gather(const void* send, void* receive, std::size_t count, int type, NcclComm comm, NcclStream) {
  const std::size_t part = count * size_of(type);
  const auto ranks = static_cast<std::size_t>(comm->group->ranks);
  if (!is_placed_right(receive, ranks * part, send, part, static_cast<std::size_t>(comm->rank) * part)) {
    return kInvalidArgument;
  }
  return together(comm, send, receive, [=](const auto& sent) {
    Bytes all;
    for (const void* one : sent) {
      const Bytes bytes = bytes_at(one, 0, part);
      all.insert(all.end(), bytes.begin(), bytes.end());
    }
    return all;
  });
}

int reduce_scatter(const void* send, void* receive, std::size_t count, int type, int operation, NcclComm comm,
                   NcclStream) {
  const std::size_t part = count * size_of(type);
  const auto ranks = static_cast<std::size_t>(comm->group->ranks);
  const auto rank = static_cast<std::size_t>(comm->rank);
  if (operation != kNcclSum || !is_placed_right(send, ranks * part, receive, part, rank * part)) {
    return kInvalidArgument;
  }
  return together(comm, send, receive,
                  [=](const auto& sent) { return sum_at(sent, rank * count, count, type); });
}

int broadcast(const void* send, void* receive, std::size_t count, int type, int root, NcclComm comm,
              NcclStream) {
  const std::size_t bytes = count * size_of(type);
  if (!is_placed_right(receive, bytes, send, bytes, 0)) return kInvalidArgument;
  return together(comm, send, receive,
                  [=](const auto& sent) { return bytes_at(sent[static_cast<std::size_t>(root)], 0, bytes); });
}

// Between group_start and group_end nothing happens; then all sends before all receives.
struct Deferred {
  int depth = 0;
  std::vector<std::function<int()>> sends;
  std::vector<std::function<int()>> receives;
};
thread_local Deferred deferred;

int now_or_later(std::vector<std::function<int()>>& later, const std::function<int()>& what) {
  if (deferred.depth == 0) return what();
  later.push_back(what);
  return kNcclSuccess;
}

int send(const void* from, std::size_t count, int type, int peer, NcclComm comm, NcclStream) {
  const std::size_t bytes = count * size_of(type);
  if (!emulated_device_memory(from, bytes)) return kInvalidArgument;
  return now_or_later(deferred.sends, [=] {
    const std::lock_guard lock(comm->group->mutex);
    comm->group->letters[{comm->rank, peer}].push_back(bytes_at(from, 0, bytes));
    comm->group->changed.notify_all();
    return kNcclSuccess;
  });
}

int receive(void* to, std::size_t count, int type, int peer, NcclComm comm, NcclStream) {
  const std::size_t bytes = count * size_of(type);
  if (!emulated_device_memory(to, bytes)) return kInvalidArgument;
  return now_or_later(deferred.receives, [=] {
    Group& group = *comm->group;
    std::unique_lock lock(group.mutex);
    auto& letters = group.letters[{peer, comm->rank}];
    if (!group.changed.wait_for(lock, kPatience, [&] { return !letters.empty(); })) return kRemoteError;
    const Bytes letter = letters.front();
    letters.pop_front();
    if (letter.size() != bytes) return kInvalidArgument;
    deliver(*comm, to, letter);
    return kNcclSuccess;
  });
}

int group_end() {
  if (--deferred.depth > 0) return kNcclSuccess;
  const Deferred all = std::exchange(deferred, {});
  for (const auto* calls : {&all.sends, &all.receives}) {
    for (const auto& call : *calls) {
      if (const int status = call(); status != kNcclSuccess) return status;
    }
  }
  return kNcclSuccess;
}

int init_rank(NcclComm* comm, int ranks, NcclId id, int rank) {
  const std::lock_guard lock(registry_mutex);
  auto& group = groups[id.bytes.data()];
  if (!group) group = std::make_shared<Group>(ranks);
  *comm = new ncclComm{group, rank};
  ++communicators;
  return kNcclSuccess;
}

int destroy(NcclComm comm) {
  delete comm;
  --communicators;
  return kNcclSuccess;
}

NcclLibrary emulated() {
  NcclLibrary nccl;
  nccl.get_version = [](int* version) { return *version = 22809, kNcclSuccess; };
  nccl.get_id = [](NcclId* id) {
    const std::string text = std::to_string(++ids);
    std::memcpy(id->bytes.data(), text.c_str(), text.size() + 1);
    return kNcclSuccess;
  };
  nccl.init_rank = init_rank;
  nccl.destroy = destroy;
  nccl.abort = destroy;
  nccl.async_error = [](NcclComm, int* error) { return *error = kNcclSuccess, kNcclSuccess; };
  nccl.group_start = [] { return ++deferred.depth, kNcclSuccess; };
  nccl.group_end = group_end;
  nccl.all_reduce = all_reduce;
  nccl.all_gather = all_gather;
  nccl.reduce_scatter = reduce_scatter;
  nccl.broadcast = broadcast;
  nccl.send = send;
  nccl.receive = receive;
  nccl.error_text = [](int status) { return status == kInvalidArgument ? "invalid argument" : "remote error"; };
  return nccl;
}

}  // namespace

void emulated_nccl_spoil(int rank) { spoiled_rank = rank; }
int emulated_nccl_communicators() { return communicators; }

const NcclLibrary* NcclLibrary::open(std::string& reason) {
  static const NcclLibrary library = emulated();
  reason.clear();
  return &library;
}

void NcclLibrary::check(int status, const std::string& doing) const {
  if (status != kNcclSuccess)
    throw_machine_failed(std::string("NCCL: ") + error_text(status) + " (while " + doing + ")");
}

std::string NcclLibrary::version() const { return "emulated"; }

}  // namespace sextant::inline probes
