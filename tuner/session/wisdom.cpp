#include <tuner/session/wisdom.hpp>

#include <algorithm>

#include <cache/browse.hpp>
#include <cache/paths.hpp>

#include <tuner/core/error.hpp>
#include <tuner/session/records.hpp>

namespace tuner {
namespace {

cache::Database open_frozen(const std::filesystem::path& file, const WisdomOptions& options) try {
  return cache::Database::open_frozen(file, {.warn = options.warn});
} catch (const cache::CacheError& error) {
  throw Error("TUNER_FROZEN=" + file.string() + ": " + error.what() +
              ". Every process of a job must find the same file there (tune freeze -o FILE makes one); without the "
              "variable each is served from the databases of its machine");
}

cache::Database open_user(const WisdomOptions& options) {
  if (const auto frozen = cache::frozen_database_file(); frozen && options.database.empty())
    return open_frozen(*frozen, options);
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
  if (options.shipped && !frozen())
    shipped_ = cache::Database::open_all_shipped(options.application, {.warn = options.warn});
}

void Wisdom::require_not_frozen(const std::string& what) const {
  if (!frozen()) return;
  throw Error("TUNER_FROZEN=" + user_.path().string() +
              " is set: everything is answered from that file, and nothing is "
              "added to it. To " +
              what + ", unset TUNER_FROZEN; `tune freeze` makes a new file of what is found then");
}

std::vector<cache::Sizes> Wisdom::measured_sizes(const KernelSpec& spec, const ProblemSize& like,
                                                 const Device& device) {
  const cache::Context wanted = context_of(spec, like, device, {});
  std::vector<cache::Sizes> sizes;
  for (cache::Database* database : databases())
    for (cache::Sizes& one : cache::measured_sizes(wanted, *database)) sizes.push_back(std::move(one));
  return sizes;
}

bool Wisdom::has_quarantine(const KernelSpec& spec, const Device& device) {
  const cache::Filter of_both{.kernel = spec.name, .device_key = device.key.text()};
  const std::vector<cache::Database*> all = databases();
  return std::any_of(all.begin(), all.end(),
                     [&](cache::Database* one) { return cache::has_quarantined(*one, of_both); });
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
