#include <cstdlib>
#include <system_error>
#include <vector>

#include <cache/paths.hpp>

#include <tuner/worker/isolated_evaluator.hpp>

namespace tuner {

std::filesystem::path find_worker_program() {
  namespace fs = std::filesystem;
  constexpr const char* name = "tuner-worker";
  std::error_code ignored;
  if (const char* given = std::getenv("TUNER_WORKER"); given != nullptr && *given != '\0') {
    if (fs::is_regular_file(given, ignored)) return given;
    throw WorkerError(std::string("$TUNER_WORKER is ") + given + ", which is not a file");
  }
  std::vector<fs::path> places = {fs::read_symlink("/proc/self/exe", ignored).parent_path() / name};
  for (const fs::path& prefix : cache::installation_prefixes()) {
    places.push_back(prefix / "bin" / name);
    places.push_back(prefix / "libexec" / "tuner" / name);
  }
  std::string tried;
  for (const fs::path& place : places) {
    if (fs::is_regular_file(place, ignored)) return place.lexically_normal();
    tried += (tried.empty() ? "" : ", ") + place.lexically_normal().string();
  }
  throw WorkerError(std::string("the program ") + name + " is missing; looked for " + tried +
                    ". Set TUNER_WORKER to its path.");
}

}  // namespace tuner
