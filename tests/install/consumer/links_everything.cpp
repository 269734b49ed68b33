// Says what the probes' transport is: pulls in the library that stands on most others.
#include <cstdio>

#include "probes/comm/communicator.h"

int main() {
  std::printf("transport %s\n", sextant::transport_description().c_str());
  return 0;
}
