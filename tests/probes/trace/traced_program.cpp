// A program to trace. Its words say what it does:
//   cuda           initialises "CUDA": loads what CUDA_INJECTION64_PATH names, as the driver does
//   steps N        N steps: range "step" with "gen" (pushed) and "train" (started), kernels in each
//   started N      N steps as verl makes them: "step" started, in it "gen" started twice and "inner" pushed
//   twice launch N       N kernels domain         ranges of a domain that cross those of the default one
//   forms          a range by each function that NVTX has for it
//   deep N         N ranges inside each other
//   threads        a range begun on one thread and ended on another
//   fork           a child that records a step and leaves
//   wait S         goes on for S seconds, with a step every 10 ms
//   crowd S        like wait, with 1,000 kernels more in each step
//   nap MS         does nothing for so long
//   open           begins a range that never ends
//   exit N         leaves with this code
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "tests/probes/trace/nvtx_client.h"

namespace {

using Launch = void (*)(const char*, std::uint64_t);

Launch launch_function() {
  const char* path = std::getenv("SEXTANT_TRACE_CUPTI");
  void* library = path == nullptr ? nullptr : dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  return library == nullptr ? nullptr : reinterpret_cast<Launch>(dlsym(library, "fake_cupti_launch"));
}

void launch(const char* name, std::uint64_t count) {
  if (const Launch call = launch_function()) call(name, count);
}

void initialise_cuda() {
  const char* path = std::getenv("CUDA_INJECTION64_PATH");
  void* library = path == nullptr ? nullptr : dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return;
  if (const auto initialize = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"))) initialize();
}

void pause_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

void step(int ms) {
  nvtx_client::push("step");
  nvtx_client::push("gen");
  pause_ms(ms);
  launch("nvjet_gen", 10);
  nvtx_client::pop();
  const std::uint64_t train = nvtx_client::start("train");
  pause_ms(ms);
  launch("flash_fwd_train", 20);
  nvtx_client::end(train);
  nvtx_client::pop();
}

void started_step() {
  const std::uint64_t step = nvtx_client::start("step");
  for (int part = 0; part < 2; ++part) {
    const std::uint64_t gen = nvtx_client::start("gen");
    std::thread([] { nvtx_client::push("inner"), nvtx_client::pop(); }).join();
    nvtx_client::end(gen);
    nvtx_client::push("inner");
    nvtx_client::pop();
  }
  nvtx_client::end(step);
  nvtx_client::end(step);  // a range that is not open: nothing
}

void cross_domains() {
  nvtx_client::push("outer");
  nvtx_client::push_in_domain("in domain");
  pause_ms(2);
  nvtx_client::pop();
  pause_ms(2);
  nvtx_client::pop_in_domain();
}

void all_forms() {
  nvtx_client::push_wide(L"wide, \u00e9");
  nvtx_client::push_with_attributes("attributes");
  nvtx_client::push_with_attributes(L"wide attributes");
  nvtx_client::push_with_attributes(static_cast<const char*>(nullptr));
  for (int open = 4; open > 0; --open) nvtx_client::pop();
  const std::uint64_t wide = nvtx_client::start_wide(L"wide start");
  const std::uint64_t attributes = nvtx_client::start_with_attributes("start with attributes");
  const std::uint64_t in_domain = nvtx_client::start_in_wide_domain(L"start in domain");
  nvtx_client::end(wide);
  nvtx_client::end(attributes);
  nvtx_client::end_in_wide_domain(in_domain);
}

void deep(int ranges) {
  for (int open = 0; open < ranges; ++open) nvtx_client::push("deep");
  for (int open = 0; open < ranges; ++open) nvtx_client::pop();
  nvtx_client::pop();  // one that is not open: nothing
  nvtx_client::push("behind");
  nvtx_client::pop();
}

void cross_threads() {
  std::uint64_t id = 0;
  std::thread([&id] { id = nvtx_client::start("across"); }).join();
  pause_ms(2);
  nvtx_client::end(id);
}

void in_child() {
  const pid_t child = fork();
  if (child == 0) {
    step(2);
    std::exit(0);
  }
  waitpid(child, nullptr, 0);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto number = [&] { return ++i < words.size() ? std::atoi(words[i].c_str()) : 0; };
    if (words[i] == "cuda") {
      initialise_cuda();
    } else if (words[i] == "steps") {
      for (int left = number(); left > 0; --left) step(2);
    } else if (words[i] == "started") {
      for (int left = number(); left > 0; --left) started_step();
    } else if (words[i] == "launch") {
      launch("ncclDevKernel_big", static_cast<std::uint64_t>(number()));
    } else if (words[i] == "domain") {
      cross_domains();
    } else if (words[i] == "forms") {
      all_forms();
    } else if (words[i] == "deep") {
      deep(number());
    } else if (words[i] == "threads") {
      cross_threads();
    } else if (words[i] == "fork") {
      in_child();
    } else if (words[i] == "wait") {
      for (int left = number() * 100; left > 0; --left) step(5);
    } else if (words[i] == "crowd") {
      for (int left = number() * 100; left > 0; --left) {
        step(5);
        launch("nvjet_crowd", 1'000);
      }
    } else if (words[i] == "nap") {
      pause_ms(number());
    } else if (words[i] == "open") {
      nvtx_client::push("never ended");
    } else if (words[i] == "exit") {
      std::printf("leaving\n");
      return number();
    }
  }
  std::printf("done\n");
  return 0;
}
