#include "probes/gpu/libraries/nccl_communicator.h"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <utility>

#include "core/units.h"
#include "sextant/error.h"

namespace sextant::inline probes {
namespace {

// The state shared by the thread that joins and the one that waits for it; either may be the last.
struct Joining {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_over = false;
  bool is_given_up = false;
  int status = kNcclSuccess;
  std::string failure;  // of selecting the GPU
  NcclComm communicator = nullptr;
};

void join(const NcclLibrary& nccl, const NcclSeat& seat, const std::function<void()>& select,
          Joining& joining) {
  NcclComm communicator = nullptr;
  int status = kNcclSuccess;
  std::string failure;
  try {
    select();
    status = nccl.init_rank(&communicator, seat.ranks, seat.id, seat.rank);
  } catch (const std::exception& error) {
    failure = error.what();
  }
  const std::lock_guard lock(joining.mutex);
  if (joining.is_given_up) {
    if (communicator != nullptr) static_cast<void>(nccl.abort(communicator));
    return;
  }
  joining.is_over = true;
  joining.status = status;
  joining.failure = std::move(failure);
  joining.communicator = communicator;
  joining.changed.notify_one();
}

std::string why_not_together(const NcclSeat& seat, double limit_s) {
  return "NCCL: " + std::to_string(seat.ranks) + " ranks did not connect within " + format_seconds(limit_s) +
         " (this is rank " + std::to_string(seat.rank) +
         "): a rank died or never started, a firewall or NCCL_SOCKET_IFNAME prevents connections, or NCCL "
         "versions differ; set NCCL_DEBUG=INFO for details";
}

NcclComm join_within(const NcclLibrary& nccl, const NcclSeat& seat, const std::function<void()>& select,
                     double limit_s) {
  const auto joining = std::make_shared<Joining>();
  std::thread thread([&nccl, seat, select, joining] { join(nccl, seat, select, *joining); });
  std::unique_lock lock(joining->mutex);
  const bool is_over =
      joining->changed.wait_for(lock, std::chrono::duration<double>(limit_s), [&] { return joining->is_over; });
  joining->is_given_up = !is_over;
  lock.unlock();
  if (!is_over) {
    thread.detach();
    throw_machine_failed(why_not_together(seat, limit_s));
  }
  thread.join();
  if (!joining->failure.empty()) throw_machine_failed(joining->failure);
  nccl.check(joining->status, "joining " + std::to_string(seat.ranks) + " ranks");
  return joining->communicator;
}

struct FirstFailure {
  std::mutex mutex;
  std::string why;
};

FirstFailure& first_failure_of_process() {
  static FirstFailure failure;
  return failure;
}

}  // namespace

NcclCommunicator::NcclCommunicator(const NcclLibrary& nccl, const NcclSeat& seat, std::function<void()> select,
                                   double limit_s)
    : nccl_(nccl),
      select_(std::move(select)),
      exceptions_(std::uncaught_exceptions()),
      communicator_(join_within(nccl, seat, select_, limit_s)) {}

NcclCommunicator::~NcclCommunicator() {
  if (communicator_ == nullptr) return;
  try {
    select_();
  } catch (const std::exception&) {  // the device is lost, and with it all that it held
    return;
  }
  // Others may not come any more.
  const bool is_failing = std::uncaught_exceptions() > exceptions_;
  static_cast<void>(is_failing ? nccl_.abort(communicator_) : nccl_.destroy(communicator_));
}

void NcclCommunicator::refuse_if_ended() const {
  if (communicator_ == nullptr) throw_machine_failed(ended_);
}

void NcclCommunicator::check(const std::string& doing) {
  const std::lock_guard lock(mutex_);
  refuse_if_ended();
  const std::string error = reported_error(doing);
  if (error.empty()) return;
  end_locked(error);
  throw_machine_failed(error);
}

void NcclCommunicator::end(const std::string& why) {
  const std::lock_guard lock(mutex_);
  end_locked(why);
}

std::string NcclCommunicator::reported_error(const std::string& doing) {
  int error = kNcclSuccess;
  const int asked = nccl_.async_error(communicator_, &error);
  if (asked != kNcclSuccess) error = asked;
  if (error == kNcclSuccess || error == kNcclInProgress) return "";
  return std::string("NCCL: ") + nccl_.error_text(error) + " (while " + doing +
         "): another rank or the network failed";
}

void NcclCommunicator::end_locked(const std::string& why) {
  if (communicator_ == nullptr) return;
  ended_ = why;
  static_cast<void>(nccl_.abort(std::exchange(communicator_, nullptr)));
}

NcclWatch::NcclWatch(NcclCommunicator& communicator, double period_s)
    : communicator_(communicator),
      thread_([this, period_s](const std::stop_token& stop) { look(stop, period_s); }) {}

std::string NcclWatch::first_failure() {
  FirstFailure& failure = first_failure_of_process();
  const std::lock_guard lock(failure.mutex);
  return failure.why;
}

void NcclWatch::look(const std::stop_token& stop, double period_s) {
  std::mutex mutex;
  std::condition_variable_any woken;
  std::unique_lock lock(mutex);
  try {
    while (!woken.wait_for(lock, stop, std::chrono::duration<double>(period_s), [] { return false; }) &&
           !stop.stop_requested()) {
      communicator_.check("waiting for other GPUs");
    }
  } catch (const std::exception& error) {
    FirstFailure& failure = first_failure_of_process();
    const std::lock_guard also(failure.mutex);
    if (failure.why.empty()) failure.why = error.what();
  }
}

}  // namespace sextant::inline probes
