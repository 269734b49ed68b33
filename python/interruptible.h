// Long work without the interpreter's lock, which Ctrl-C ends.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <chrono>
#include <future>

namespace sextant::python {

// Calls work(is_cancelled) on a thread of its own, while other Python threads run. If a signal handler raises, as
// that of Ctrl-C does, the flag is set; the exception is raised as soon as the work has ended.
template <typename Work>
auto interruptible(const Work& work) {
  constexpr std::chrono::milliseconds kBetweenChecks{50};
  std::atomic<bool> is_cancelled = false;
  auto running = std::async(std::launch::async, [&] { return work(is_cancelled); });
  while (true) {
    {
      const pybind11::gil_scoped_release released;
      if (running.wait_for(kBetweenChecks) == std::future_status::ready) break;
    }
    if (PyErr_CheckSignals() == 0) continue;
    const pybind11::error_already_set raised;
    is_cancelled = true;
    {
      const pybind11::gil_scoped_release released;
      running.wait();
    }
    throw raised;
  }
  return running.get();
}

}  // namespace sextant::python
