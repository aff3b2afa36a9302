// Calls the library from the destructor of a static object that is older than everything of the library: before main()
// nothing of it exists, after main() its own static objects have been destroyed. Exit status 0: both calls were right.
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <vector>

#include <cache/file/paths.hpp>
#include <cache/query/browse.hpp>

#include <tuner/reduce.hpp>

#include <tests/support/wait_until.hpp>

namespace {

int sum_of_ones(int n) {
  const std::vector<int> ones(static_cast<std::size_t>(n), 1);
  return tuner::reduce(ones.data(), n);
}

struct Late {
  ~Late() {
    try {
      // A size class that main() did not meet: the whole way of a first call.
      if (sum_of_ones(1000) == 1000 && sum_of_ones(30'000) == 30'000) return;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
    ::_exit(1);
  }
} late;

}  // namespace

bool is_remembered() try {
  auto database = tuner::cache::Database::open_read_only(*tuner::cache::user_database_file());
  return !tuner::cache::misses(database).empty();
} catch (const std::exception&) {
  return false;  // not made yet
}

/// With an argument it ends as if it were killed, once what it missed is written; that takes no call from it.
int main(int argc, char**) {
  const int status = sum_of_ones(1000) == 1000 && tuner::testing::wait_until(is_remembered) ? 0 : 1;
  if (argc > 1) ::_exit(status);
  return status;
}
