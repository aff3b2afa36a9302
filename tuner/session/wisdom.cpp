#include <tuner/session/wisdom.hpp>

#include <cache/paths.hpp>

#include <tuner/session/records.hpp>

namespace tuner {
namespace {

cache::OpenOptions open_options(const WisdomOptions& options) {
  cache::OpenOptions result;
  if (options.warn) result.warn = [warn = options.warn](const std::string& message) { warn(message); };
  return result;
}

cache::Database open_user(const WisdomOptions& options) {
  const auto file = options.database.empty() ? cache::user_database_file() : std::optional(options.database);
  if (!file && options.warn) {
    options.warn("no cache folder: set TUNER_CACHE_DIR or HOME; results are kept in memory and end with this process");
  }
  if (!file || (options.read_only && !std::filesystem::exists(*file))) {
    return cache::Database::in_memory(open_options(options));
  }
  return options.read_only ? cache::Database::open_read_only(*file, open_options(options))
                           : cache::Database::open_user(*file, open_options(options));
}

}  // namespace

Wisdom::Wisdom(const WisdomOptions& options) : user_(open_user(options)) {
  if (options.shipped) shipped_ = cache::Database::open_all_shipped(options.application, open_options(options));
}

cache::WisdomMatch Wisdom::lookup(const KernelSpec& spec, const ProblemSize& size, const Device& device,
                                  const Objective& objective) {
  std::vector<cache::Database*> databases{&user_};
  for (cache::Database& database : shipped_) databases.push_back(&database);
  const cache::WisdomQuery query{to_record(spec, objective), to_record(device), environment_record(device),
                                 to_record(size)};
  return cache::lookup(query, databases, [&](const std::string& text) -> std::optional<std::string> {
    try {
      return why_invalid(spec, size, device.limits, Configuration::parse(text));
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
  });
}

}  // namespace tuner
