#include <tuner/session/wisdom/wisdom.hpp>

#include <algorithm>
#include <utility>

#include <cache/file/paths.hpp>
#include <cache/query/browse.hpp>
#include <cache/query/shipped.hpp>

#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/program_text.hpp>
#include <tuner/core/kernel/size_classes.hpp>
#include <tuner/core/kernel/validity.hpp>
#include <tuner/core/kernel/verify_problems.hpp>
#include <tuner/core/result/size_rule.hpp>
#include <tuner/core/values/passing.hpp>
#include <tuner/error.hpp>
#include <tuner/session/wisdom/record_conversion.hpp>

namespace tuner {
namespace {

/// Returns the result of \p work. Throws Error when the frozen database \p file is broken.
template <class Work>
auto with_frozen(const std::filesystem::path& file, const Work& work) try {
  return work();
} catch (const cache::CacheError& error) {
  throw Error(ErrorCode::cache,
              "TUNER_FROZEN=" + file.string() + ": " + error.what() +
                  ". Every process of a job must find the same file there (tune db freeze FILE makes one). Without the "
                  "variable, each is served from the databases of its machine");
}

cache::Database open_user(const WisdomOptions& options) {
  if (const auto frozen = cache::frozen_database_file(); frozen && options.database.empty())
    return with_frozen(*frozen, [&] { return cache::Database::open_frozen(*frozen, {.warn = options.warn}); });
  const auto file = options.database.empty() ? cache::user_database_file() : std::optional(options.database);
  if (!file && options.warn) {
    options.warn(
        "no cache folder: set TUNER_CACHE_DIR or HOME; results stay in memory and are lost when this process ends");
  }
  cache::OpenOptions opening{.warn = options.warn, .reading_timeout = options.patience};
  std::error_code error;  // what cannot be looked at may be there: opening it says why
  if (!file || (options.read_only && !std::filesystem::exists(*file, error) && !error))
    return cache::Database::in_memory(opening);
  if (!options.check) opening.check_bytes = 0;
  return options.read_only ? cache::Database::open_read_only(*file, opening)
                           : cache::Database::open_user(*file, opening);
}

}  // namespace

Wisdom::Wisdom(const WisdomOptions& options) : user_(open_user(options)), warn_(options.warn) {
  if (!options.shipped || frozen()) return;
  list_shipped();
  if (!warn_) return;
  for (const std::filesystem::path& place : cache::useless_places())
    warn_("TUNER_DB_PATH names " + place.string() + ", where there are neither wisdom databases (NAME.db) nor images");
}

void Wisdom::list_shipped() {
  const std::string told = std::exchange(unlisted_, {});
  for (const std::filesystem::path& file : cache::shipped_database_files(&unlisted_)) {
    const auto is_same = [&](const Shipped& one) { return one.file == file; };
    if (std::none_of(shipped_.begin(), shipped_.end(), is_same)) shipped_.emplace_back().file = file;
  }
  if (!unlisted_.empty() && unlisted_ != told && warn_) warn_("shipped wisdom is not used: " + with_advice(unlisted_));
}

bool Wisdom::look_for_shipped() {
  const std::lock_guard lock(opening_);
  bool changed = false;
  for (Shipped& one : shipped_) {
    if (!one.opened || one.database || cache::real_disk().stamp_of(one.file) == one.stamp) continue;
    one.opened = false;
    one.lacks.clear();
    changed = true;
  }
  const std::size_t listed = shipped_.size();
  if (!unlisted_.empty()) list_shipped();
  return changed || shipped_.size() > listed;
}

void Wisdom::require_not_frozen(const std::string& what) const {
  if (!frozen()) return;
  throw Error(ErrorCode::cache, "TUNER_FROZEN=" + user_.path().string() +
                                    " is set: that file answers everything, and nothing is added to it. To " + what +
                                    ", unset TUNER_FROZEN; then make a new file with `tune db freeze`");
}

template <class Ask>
auto Wisdom::answer(const Ask& ask) {
  return frozen() ? with_frozen(user_.path(), ask) : ask();
}

std::optional<std::vector<cache::Sizes>> Wisdom::measured_sizes(const KernelSpec& spec, const ProblemSize& least,
                                                                const cache::Sizes& most, std::size_t limit,
                                                                const Device& device, Use use) {
  const cache::Context wanted = context_of(spec, least, device, Objective::time_of(use));
  return answer([&]() -> std::optional<std::vector<cache::Sizes>> {
    std::vector<cache::Sizes> sizes;
    for (cache::Database* database : databases(wanted.device.key)) {
      auto found = cache::measured_sizes(wanted, most, limit, *database);
      if (!found) return std::nullopt;
      sizes.insert(sizes.end(), found->begin(), found->end());
    }
    return sizes;
  });
}

bool Wisdom::has_quarantine(const KernelSpec& spec, const Device& device) {
  const cache::Filter of_both{.kernel = spec.name, .device_key = device.key.text()};
  const std::vector<cache::Database*> all = databases(device.key.text());
  return answer([&] {
    return std::any_of(all.begin(), all.end(),
                       [&](cache::Database* one) { return cache::has_quarantined(*one, of_both); });
  });
}

std::vector<cache::Database*> Wisdom::databases(const std::string& device_key, std::string* unavailable) {
  std::vector<cache::Database*> all{&user_};
  const std::lock_guard lock(opening_);
  if (!unlisted_.empty()) list_shipped();
  if (unavailable != nullptr && is_passing(unlisted_)) *unavailable = unlisted_;
  for (Shipped& shipped : shipped_) {
    if (!device_key.empty()) {
      auto known = shipped.lacks.find(device_key);
      if (known == shipped.lacks.end())
        known = shipped.lacks.emplace(device_key, cache::lacks_device(shipped.file, device_key)).first;
      if (known->second) continue;
    }
    try {
      // Each row has a checksum, so there is no need to read the whole file.
      if (!shipped.opened) {
        shipped.stamp = cache::real_disk().stamp_of(shipped.file);
        shipped.database =
            cache::Database::open_shipped(shipped.file, {.warn = warn_, .check_bytes = 0, .check_digest = false});
      }
      shipped.opened = true;
    } catch (const cache::Unavailable& error) {
      if (unavailable != nullptr) *unavailable = error.what();
    }
    if (shipped.database) all.push_back(&*shipped.database);
  }
  return all;
}

cache::WisdomMatch Wisdom::lookup(const KernelSpec& spec, const ProblemSize& size, const Device& device,
                                  const Objective& objective, const cache::Sizes& sizes_around,
                                  const std::set<Configuration>& broken) {
  const cache::Sizes around = sizes_around.empty() ? class_begin(size.sizes) : sizes_around;
  const cache::Accept valid = [&](const std::string& text) -> std::optional<std::string> {
    try {
      const Configuration configuration = Configuration::parse(text);
      if (broken.count(configuration) > 0) return "it does not compile or load here";
      return why_invalid(spec, size, device.limits, configuration);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
  };
  const cache::Applies applies = [&](const cache::Sizes& measured) -> std::optional<std::string> {
    if (measured == size.sizes) return std::nullopt;
    for (const std::string& name : fixed_sizes(spec, {measured, size.choices}, device.limits)) {
      const auto at = measured.find(name);
      if (at != measured.end() && at->second == size.sizes.at(name)) continue;
      return "it is for " + cache::sizes_text(measured) + ", and no other " + name + " was verified";
    }
    return std::nullopt;
  };
  const cache::Rules rules{
      .read = [](const std::string& text, const cache::Sizes& sizes) -> std::optional<cache::RuleChoice> {
        const auto rule = SizeRule::parse(text);
        const SizeRule::Branch* const branch = rule ? rule->branch(sizes) : nullptr;
        if (branch == nullptr) return std::nullopt;
        return cache::RuleChoice{branch->configuration.text(), branch->condition()};
      },
      .class_end = class_end(around)};
  const cache::Context query = context_of(spec, size, device, objective);
  return answer([&] {
    std::string unavailable;
    cache::WisdomMatch match =
        cache::lookup(query, databases(query.device.key, &unavailable), valid, around, applies, rules);
    // Other devices' results matter only when the device's own do not answer; in uses other than single launches,
    // never.
    if ((!match || match.tier > cache::Tier::nearest_size) && objective.use().value_or(Use::single) == Use::single)
      match = cache::lookup(query, databases({}, &unavailable), valid, around, applies, rules);
    if (const std::string* const why = unknown_headers(spec);
        why != nullptr && match && match.best->measured_ms < made_ms_) {
      match = {};
      match.reason = "results of earlier processes may be of another text: " + *why;
    }
    if (match.unavailable.empty()) match.unavailable = unavailable;
    // Other processes of the job may have the answer.
    if (frozen() && !match.unavailable.empty()) throw cache::Unavailable(match.unavailable);
    return match;
  });
}

cache::WisdomMatch Wisdom::lookup_in_use(Use use, const KernelSpec& spec, const ProblemSize& size, const Device& device,
                                         const cache::Sizes& around, const std::set<Configuration>& broken) {
  cache::WisdomMatch single = lookup(spec, size, device, Objective::time_of(Use::single), around, broken);
  if (use == Use::single) return single;
  cache::WisdomMatch match = lookup(spec, size, device, Objective::time_of(use), around, broken);
  // As in lookup(), a result for sizes of the same class comes before a rule.
  const bool is_of_their_class =
      match && is_of_class(match.best->problem.sizes, around.empty() ? class_begin(size.sizes) : around);
  const cache::Tier last = single.tier == cache::Tier::rule && is_of_their_class
                               ? cache::Tier::nearest_size
                               : std::max(single.tier, cache::Tier::stale);
  if (match && match.tier <= cache::Tier::nearest_size && match.tier <= last) {
    match.reason.append(", timed as '").append(named(use).name).append("'");
    return match;
  }
  if (single.unavailable.empty()) single.unavailable = match.unavailable;
  return single;
}

}  // namespace tuner
