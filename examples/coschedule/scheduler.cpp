// Places jobs as they come, one line each on standard input: scheduler PLACEMENT.json
//   place JOB.json      the cheapest place with which every job keeps its promise
//   leave NAME          the job has ended
#include <sextant/coschedule.h>
#include <sextant/error.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

namespace {

std::string text_of(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw sextant::Error(sextant::ErrorKind::bad_input, file + ": cannot be read");
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) return std::fprintf(stderr, "usage: scheduler PLACEMENT.json\n"), 2;
  sextant::Coscheduler scheduler(text_of(argv[1]));
  for (std::string word, name; std::cin >> word >> name;) {
    try {
      if (word == "leave") {
        scheduler.leave(name);
        std::printf("%s left: $%.2f an hour\n", name.c_str(), scheduler.usd_per_hour());
        continue;
      }
      const sextant::CoscheduledJob job = scheduler.place(text_of(name));
      std::printf("%s: %s, adds $%.2f an hour\n", name.c_str(), job.explanation.c_str(),
                  job.added_usd_per_hour);
    } catch (const sextant::Error& error) {  // this job only: the others are placed as before
      std::fprintf(stderr, "%s: %s\n", name.c_str(), error.what());
    }
  }
  std::printf("$%.2f an hour, no placement costs less than $%.2f\n", scheduler.usd_per_hour(),
              scheduler.min_usd_per_hour());
  return 0;
} catch (const sextant::Error& error) {
  return std::fprintf(stderr, "scheduler: %s\n", error.what()), 2;
}
