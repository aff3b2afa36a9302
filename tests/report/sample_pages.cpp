// report_sample_pages FOLDER: writes the pages for page_test.py.
#include <filesystem>
#include <fstream>
#include <vector>

#include "sample.hpp"

namespace {

using namespace tuner::report;

Tuning result_only(const char* kernel, double median_ns) {
  Tuning tuning;
  tuning.key = test::sample_key(kernel);
  tuning.key.conditions.clear();
  const auto& key = tuning.key;
  tuning.best = tuner::cache::BestRecord{
      key, {median_ns, median_ns * 0.999, median_ns * 1.001, 0.001}, "block=256", 30, test::sample_started_ms()};
  tuning.amounts = {1e9, 4e9, 0.5, 6.7e13, {}};
  tuning.database = "shipped.db";
  return tuning;
}

void write(const std::filesystem::path& file, const std::vector<Tuning>& tunings, PageOptions options) {
  std::ofstream(file, std::ios::binary) << page(tunings, options);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::filesystem::path folder = argv[1];
  const PageOptions options = test::sample_options();
  write(folder / "large.html", {test::sample_tuning(10'000)}, options);
  write(folder / "several.html", {test::sample_tuning(300), result_only("first", 2e5), result_only("second", 4e6)},
        options);
  write(folder / "single.html", {test::sample_tuning(1)}, options);
  write(folder / "hostile.html", {test::hostile_tuning()}, options);
  Tuning largest = test::sample_tuning(60);
  largest.key.kernel.objective = "max:achieved_occupancy";
  largest.best.reset();
  write(folder / "largest.html", {largest}, options);
  Tuning zeros = test::sample_tuning(60);
  zeros.key.kernel.objective = "achieved_occupancy";
  zeros.best.reset();
  std::size_t count = 0;
  for (PlacedTrial& placed : zeros.trials)
    for (auto& [name, value] : placed.trial.metrics)
      if (++count % 3 == 0) value = 0;
  write(folder / "zeros.html", {zeros}, options);
  write(folder / "nothing.html", {}, options);
}
