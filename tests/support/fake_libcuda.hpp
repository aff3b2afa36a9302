#pragma once
/// What the fake driver has seen. `extern "C" FakeDriver* fake_driver()` of the library answers it.

#include <cstddef>
#include <thread>
#include <vector>

#include <dlfcn.h>

struct FakeDriver {
  std::size_t starts = 0;  ///< cuInit
  std::size_t calls = 0;   ///< of the functions that a warm launch may need
  std::size_t launches = 0, allocations = 0, modules = 0;
  std::size_t bytes = 0;                               ///< allocated now
  std::size_t waits = 0;                               ///< for everything that runs in a context
  std::size_t captures_ended = 0;                      ///< by a call that a capture forbids
  std::size_t cooperative = 0;                         ///< of the launches
  std::size_t dependent = 0;                           ///< of the launches
  unsigned cluster[3] = {};                            ///< of the last launch; 0: it had none
  int carveout = -1;                                   ///< of the last launch
  int compiled_cluster = 0;                            ///< of every kernel, in x; 0: none
  int clusters = 66;                                   ///< that a device holds
  std::size_t pending_limit = 2048;                    ///< of launches from the device
  unsigned grid = 0;                                   ///< of the last launch
  std::size_t least_parameters = 4;                    ///< that a kernel of the test has
  void* parameters[4] = {};                            ///< the first eight bytes of each
  std::size_t tensor_maps = 0, moved_tensor_maps = 0;  ///< encoded, and given another address
  unsigned long long map_extent = 0;                   ///< the outer one of the map encoded last
  unsigned long long context = 0;                      ///< that was current at it
  std::vector<std::thread::id> launched_by;            ///< the threads of all launches, in the launches' order
};

/// Null if the environment does not put the fake driver first: LD_LIBRARY_PATH.
inline FakeDriver* open_fake_driver() {
  void* const library = ::dlopen("libcuda.so.1", RTLD_NOW);
  auto* const find = library ? reinterpret_cast<FakeDriver* (*)()>(::dlsym(library, "fake_driver")) : nullptr;
  return find != nullptr ? find() : nullptr;
}
