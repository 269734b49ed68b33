// A job that asks for a permit before each phase: job SOCKET NAME ITERATIONS ROLLOUT_S TRAINING_S
// Its phases only wait; put generation and training there.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "phase_client.h"

int main(int argc, char** argv) try {
  if (argc != 6) return std::fprintf(stderr, "usage: job SOCKET NAME ITERATIONS ROLLOUT_S TRAINING_S\n"), 2;
  const std::chrono::duration<double> rollout(std::atof(argv[4])), training(std::atof(argv[5]));
  sextant::PhaseClient permits(argv[1], argv[2]);
  for (int i = 0; i < std::atoi(argv[3]); ++i) {
    {
      const auto permit = permits.acquire("rollout");
      constexpr int kParts = 20;  // of the responses, one after the other
      for (int part = 1; part <= kParts; ++part) {
        std::this_thread::sleep_for(rollout / kParts);
        if (permits.progress(1.0 * part / kParts)) std::printf("%s moves its tail\n", argv[2]);
      }
    }
    const auto permit = permits.acquire("training");
    std::this_thread::sleep_for(training);
  }
  return 0;
} catch (const std::exception& error) {
  return std::fprintf(stderr, "job: %s\n", error.what()), 1;
}
