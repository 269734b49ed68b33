#include "probes/comm/thread_communicator.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>

#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

// The state that the ranks of one communicator share.
class Room {
 public:
  explicit Room(int ranks) : ranks_(ranks), posted_(static_cast<std::size_t>(ranks)) {}

  [[nodiscard]] int size() const { return ranks_; }

  // Nobody leaves before all have come.
  void meet(bool burns_a_core) {
    std::unique_lock lock(mutex_);
    check(lock);
    const std::uint64_t mine = generation_;
    if (++arrived_ == ranks_) {
      arrived_ = 0;
      ++generation_;
      changed_.notify_all();
      return;
    }
    const auto is_over = [&] { return generation_ != mine || is_broken(); };
    if (burns_a_core) {
      lock.unlock();
      while (!is_over()) std::this_thread::yield();
      lock.lock();
    }
    changed_.wait(lock, is_over);
    if (generation_ == mine) check(lock);
  }

  // Everyone shows everyone a piece of memory, `look` sees them all, by rank, and then all go on.
  template <typename Look>
  void show(int rank, const void* mine, Look look) {
    posted_[static_cast<std::size_t>(rank)] = mine;
    meet(false);
    look(posted_);
    meet(false);
  }

  void put(int from, int to, int tag, std::span<const std::byte> values) {
    const std::lock_guard lock(mutex_);
    mail_[{from, to, tag}].emplace_back(values.begin(), values.end());
    changed_.notify_all();
  }

  void take(int from, int to, int tag, std::span<std::byte> values) {
    std::unique_lock lock(mutex_);
    auto& letters = mail_[{from, to, tag}];
    changed_.wait(lock, [&] { return !letters.empty() || is_broken(); });
    take_first(letters, values, lock);
  }

  // False when none came in time.
  bool take_within(int from, int to, int tag, std::span<std::byte> values, double limit_s) {
    std::unique_lock lock(mutex_);
    auto& letters = mail_[{from, to, tag}];
    const std::chrono::duration<double> limit(limit_s);
    if (!changed_.wait_for(lock, limit, [&] { return !letters.empty() || is_broken(); })) return false;
    take_first(letters, values, lock);
    return true;
  }

  bool has_letter(int from, int to, int tag) {
    const std::unique_lock lock(mutex_);
    check(lock);
    return !mail_[{from, to, tag}].empty();
  }

  // All ranks that wait, now or later, throw.
  void break_up() {
    const std::lock_guard lock(mutex_);
    is_broken_ = true;
    for (const auto& room : rooms_within_) room->break_up();
    changed_.notify_all();
  }

  // One of the rooms that split off; gone with this one.
  void add_within(std::shared_ptr<Room> room) {
    const std::lock_guard lock(mutex_);
    rooms_within_.push_back(std::move(room));
  }

 private:
  using Letters = std::deque<std::vector<std::byte>>;

  void take_first(Letters& letters, std::span<std::byte> values, const std::unique_lock<std::mutex>& lock) {
    if (letters.empty()) check(lock);
    SEXTANT_CHECK(letters.front().size() == values.size());
    std::copy(letters.front().begin(), letters.front().end(), values.begin());
    letters.pop_front();
  }
  [[nodiscard]] bool is_broken() const { return is_broken_; }
  void check(const std::unique_lock<std::mutex>&) const {
    if (is_broken_) throw_machine_failed("another rank of this process failed");
  }

  int ranks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int arrived_ = 0;
  std::atomic<std::uint64_t> generation_ = 0;
  std::atomic<bool> is_broken_ = false;
  std::vector<const void*> posted_;
  std::map<std::tuple<int, int, int>, Letters> mail_;  // from, to, tag
  std::vector<std::shared_ptr<Room>> rooms_within_;
};

class ThreadCommunicator final : public Communicator {
 public:
  ThreadCommunicator(std::shared_ptr<Room> room, int rank) : room_(std::move(room)), rank_(rank) {}

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return room_->size(); }
  void barrier() override { room_->meet(true); }
  void wait_quietly() override { room_->meet(false); }

  void all_reduce_sum(std::span<float> values) override { reduce(values, std::plus<>()); }
  void all_reduce_sum(std::span<double> values) override { reduce(values, std::plus<>()); }
  void all_reduce_max(std::span<float> values) override { reduce(values, Larger()); }
  void all_reduce_max(std::span<double> values) override { reduce(values, Larger()); }
  void all_gather(std::span<const float> mine, std::span<float> all) override { gather(mine, all); }
  void all_gather(std::span<const double> mine, std::span<double> all) override { gather(mine, all); }

  void reduce_scatter_sum(std::span<const float> all, std::span<float> mine) override {
    SEXTANT_CHECK(all.size() == mine.size() * static_cast<std::size_t>(size()));
    const std::size_t first = mine.size() * static_cast<std::size_t>(rank_);
    room_->show(rank_, all.data(), [&](const std::vector<const void*>& posted) {
      for (std::size_t at = 0; at < mine.size(); ++at) {
        mine[at] = 0;
        for (const void* of_rank : posted) mine[at] += static_cast<const float*>(of_rank)[first + at];
      }
    });
  }
  void all_to_all(std::span<const float> sent, std::span<float> received) override {
    SEXTANT_CHECK(sent.size() == received.size());
    const std::size_t part = sent.size() / static_cast<std::size_t>(size());
    room_->show(rank_, sent.data(), [&](const std::vector<const void*>& posted) {
      auto out = received.begin();
      for (const void* of_rank : posted) {
        out =
            std::copy_n(static_cast<const float*>(of_rank) + part * static_cast<std::size_t>(rank_), part, out);
      }
    });
  }

  void broadcast(std::span<std::byte> values, int root) override {
    room_->show(rank_, values.data(), [&](const std::vector<const void*>& posted) {
      const auto* from = static_cast<const std::byte*>(posted[static_cast<std::size_t>(root)]);
      if (rank_ != root) std::copy(from, from + values.size(), values.begin());
    });
  }
  void send(std::span<const std::byte> values, int to, int tag) override { room_->put(rank_, to, tag, values); }
  void receive(std::span<std::byte> values, int from, int tag) override {
    room_->take(from, rank_, tag, values);
  }
  bool send_within(std::span<const std::byte> values, int to, int tag, double) override {
    send(values, to, tag);
    return true;
  }
  bool receive_within(std::span<std::byte> values, int from, int tag, double limit_s) override {
    return room_->take_within(from, rank_, tag, values, limit_s);
  }
  bool has_message(int from, int tag) override { return room_->has_letter(from, rank_, tag); }
  void send_buffered(std::span<const std::byte> values, int to, int tag) override { send(values, to, tag); }
  void finish_sends() override {}

  [[nodiscard]] std::unique_ptr<Communicator> split(int colour, int key) override;

  [[nodiscard]] std::vector<std::string> hosts() override {
    return std::vector<std::string>(static_cast<std::size_t>(size()),
                                    make_serial_communicator()->hosts().front());
  }

 private:
  struct Larger {
    template <typename T>
    T operator()(T a, T b) const {
      return std::max(a, b);
    }
  };

  template <typename T, typename Operation>
  void reduce(std::span<T> values, Operation operation) {
    const std::vector<T> mine(values.begin(), values.end());
    room_->show(rank_, mine.data(), [&](const std::vector<const void*>& posted) {
      for (std::size_t at = 0; at < values.size(); ++at) {
        T total = static_cast<const T*>(posted[0])[at];
        for (std::size_t rank = 1; rank < posted.size(); ++rank) {
          total = operation(total, static_cast<const T*>(posted[rank])[at]);
        }
        values[at] = total;
      }
    });
  }

  template <typename T>
  void gather(std::span<const T> mine, std::span<T> all) {
    SEXTANT_CHECK(all.size() == mine.size() * static_cast<std::size_t>(size()));
    const std::vector<T> copy(mine.begin(), mine.end());  // `mine` may lie in `all`
    room_->show(rank_, copy.data(), [&](const std::vector<const void*>& posted) {
      auto out = all.begin();
      for (const void* part : posted) {
        out = std::copy_n(static_cast<const T*>(part), mine.size(), out);
      }
    });
  }

  std::shared_ptr<Room> room_;
  int rank_;
};

std::unique_ptr<Communicator> ThreadCommunicator::split(int colour, int key) {
  struct Wish {
    int colour;
    int key;
    std::shared_ptr<Room> room;
  };
  Wish mine{colour, key, nullptr};
  std::vector<std::pair<int, int>> members;  // key and rank
  room_->show(rank_, &mine, [&](const std::vector<const void*>& posted) {
    for (std::size_t rank = 0; rank < posted.size(); ++rank) {
      const auto* wish = static_cast<const Wish*>(posted[rank]);
      if (wish->colour == colour) members.emplace_back(wish->key, static_cast<int>(rank));
    }
  });
  std::sort(members.begin(), members.end());
  // The first member opens the room, and the others take it from its wish.
  if (colour >= 0 && members.front().second == rank_) {
    mine.room = std::make_shared<Room>(static_cast<int>(members.size()));
    room_->add_within(mine.room);
  }
  std::shared_ptr<Room> room;
  room_->show(rank_, &mine, [&](const std::vector<const void*>& posted) {
    if (colour >= 0)
      room = static_cast<const Wish*>(posted[static_cast<std::size_t>(members.front().second)])->room;
  });
  if (colour < 0) return nullptr;
  const auto place = std::find(members.begin(), members.end(), std::pair(key, rank_));
  return std::make_unique<ThreadCommunicator>(room, static_cast<int>(place - members.begin()));
}

}  // namespace

void run_on_threads(int ranks, const std::function<void(Communicator& world)>& work) {
  SEXTANT_CHECK(ranks > 0);
  const auto room = std::make_shared<Room>(ranks);
  std::mutex mutex;
  std::exception_ptr first_failure;
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        ThreadCommunicator world(room, rank);
        work(world);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!first_failure) first_failure = std::current_exception();
        room->break_up();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (first_failure) std::rethrow_exception(first_failure);
}

}  // namespace sextant::inline probes
