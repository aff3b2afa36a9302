#include <tuner/session/wisdom.hpp>

#include <cache/paths.hpp>

#include <tuner/session/records.hpp>

namespace tuner {
namespace {

cache::Database open_user(const WisdomOptions& options) {
  const auto file = options.database.empty() ? cache::user_database_file() : std::optional(options.database);
  if (!file && options.warn) {
    options.warn("no cache folder: set TUNER_CACHE_DIR or HOME; results are kept in memory and end with this process");
  }
  if (!file || (options.read_only && !std::filesystem::exists(*file)))
    return cache::Database::in_memory({.warn = options.warn});
  return options.read_only ? cache::Database::open_read_only(*file, {.warn = options.warn})
                           : cache::Database::open_user(*file, {.warn = options.warn});
}

}  // namespace

Wisdom::Wisdom(const WisdomOptions& options) : user_(open_user(options)) {
  if (options.shipped) shipped_ = cache::Database::open_all_shipped(options.application, {.warn = options.warn});
}

std::vector<cache::Database*> Wisdom::databases() {
  std::vector<cache::Database*> all{&user_};
  for (cache::Database& database : shipped_) all.push_back(&database);
  return all;
}

cache::WisdomMatch Wisdom::lookup(const KernelSpec& spec, const ProblemSize& size, const Device& device,
                                  const Objective& objective, const cache::Sizes& around) {
  const cache::Accept valid = [&](const std::string& text) -> std::optional<std::string> {
    try {
      return why_invalid(spec, size, device.limits, Configuration::parse(text));
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
  };
  return cache::lookup(context_of(spec, size, device, objective), databases(), valid, around);
}

}  // namespace tuner
