#include "places.hpp"

#include <cache/paths.hpp>
#include <tuner/worker/isolated_evaluator.hpp>

std::string worker_program() { return tuner::find_worker_program().string(); }

std::vector<std::string> shipped_databases() {
  std::vector<std::string> files;
  for (const auto& file : tuner::cache::shipped_database_files()) files.push_back(file.string());
  return files;
}
