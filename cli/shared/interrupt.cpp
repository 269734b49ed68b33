#include "cli/shared/interrupt.h"

namespace sextant::cli {
namespace {

std::atomic<bool> came_flag = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");

void on_signal(int) { came_flag.store(true); }

}  // namespace

Interrupt::Interrupt() {
  came_flag.store(false);
  struct sigaction handler = {};
  handler.sa_handler = on_signal;
  handler.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  sigaction(SIGINT, &handler, &interrupt_);
  sigaction(SIGTERM, &handler, &terminate_);
  sigaction(SIGHUP, nullptr, &hang_up_);
  if (hang_up_.sa_handler != SIG_IGN) sigaction(SIGHUP, &handler, nullptr);
}

Interrupt::~Interrupt() {
  sigaction(SIGINT, &interrupt_, nullptr);
  sigaction(SIGTERM, &terminate_, nullptr);
  sigaction(SIGHUP, &hang_up_, nullptr);
}

const std::atomic<bool>& Interrupt::flag() const { return came_flag; }

}  // namespace sextant::cli
