#pragma once
/// Finds the results of one database that may answer a query, best first. Private to this room.

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <cache/query/lookup.hpp>
#include <cache/query/places.hpp>
#include <cache/query/rows.hpp>
#include <cache/query/store.hpp>

namespace tuner::cache {

class Finder {
 public:
  /// In the order in which they are searched; each belongs to a tier.
  enum Step { kExact, kStale, kExactAround, kStaleAround, kClass, kNearest, kRule, kStaleRule, kSimilar, kPortable };
  static constexpr Step kSteps[] = {kExact,   kStale, kExactAround, kStaleAround, kClass,
                                    kNearest, kRule,  kStaleRule,   kSimilar,     kPortable};
  static constexpr Tier kTiers[] = {Tier::exact,          Tier::stale,        Tier::nearest_size, Tier::nearest_size,
                                    Tier::nearest_size,   Tier::nearest_size, Tier::rule,         Tier::rule,
                                    Tier::similar_device, Tier::portable};

  struct Candidate {
    BestRecord best;
    std::string condition = {};  // of its rule, for kRule and kStaleRule
    int votes = 0;               // for kPortable
    int voters = 0;
  };
  /// This many nearest results vote in Tier::portable. More would take longer and hardly change the result.
  static constexpr int kMostVoters = 128;

  /// \p own: the sizes of the request. \p query has the sizes around them.
  Finder(Database& database, const Context& query, const Sizes& own, const Rules& rules)
      : store_(database.store()), query_(query), own_(own), rules_(rules) {}

  /// The next candidate of \p step with a configuration that is not in \p refused. Each call is one read of the
  /// database, so that no lock is held between calls. It also asks this database's \p quarantine, and adds to
  /// \p refused and \p rejected what that forbids: locks cost more than rows.
  std::optional<Candidate> next(Step step, std::set<std::string>& refused, Quarantine& quarantine,
                                std::vector<RejectedCandidate>& rejected);

  /// Whether the device has a result with a rule.
  bool has_rules();

  /// How many results for the query's kernel and choices are of other sources; counts no further than kMostCounted.
  int of_other_sources();
  static constexpr int kMostCounted = 100;

  /// See measured_sizes().
  std::optional<std::vector<Sizes>> sizes_up_to(const Sizes& most, std::size_t limit);

 private:
  /// The values that rank a row; its checksum is not verified yet.
  struct RankedRow {
    std::int64_t id = 0, compute_capability = 0;
    std::string key;
    Sizes sizes;
    std::string configuration, driver, compiler;
    std::int64_t measured_ms = 0;
    double median_ns = 0;
    bool other_software = false;
    int votes = 0;
    std::array<double, 3> rank = {};

    /// The best row is the least. Breaks ties so that equal contents give equal answers.
    auto order() const {
      return std::make_tuple(rank, std::string_view(key), other_software, -measured_ms, median_ns,
                             std::string_view(configuration), std::string_view(driver), std::string_view(compiler));
    }
    /// Heap order: the best row is on top.
    bool operator<(const RankedRow& other) const { return order() > other.order(); }
  };
  /// All results for the query's kernel source on one device.
  struct Group {
    std::int64_t compute_capability = 0, sm_count = 0;
    std::string key = {}, source = {};
    auto order() const { return std::tie(compute_capability, sm_count, key, source); }
  };
  struct GroupCell {
    const Group* group = nullptr;
    Cell cell;
    /// Heap order: the nearest cell is on top.
    bool operator<(const GroupCell& other) const { return cell.bound > other.cell.bound; }
  };

  void begin(Step step);
  std::int64_t apart_from(std::int64_t compute_capability) const;
  /// The next entry in order; opens cells and groups as they are needed.
  std::optional<RankedRow> next_entry();
  /// Rows for the kernel, objective and choices of the query.
  template <class... Arguments>
  Query rows(const char* columns, const std::string& conditions, const Arguments&... arguments);
  /// Rows of a group, in a range of places.
  Query rows_within(const char* columns, const Group& of, std::int64_t first, std::int64_t last,
                    const char* limit = "");
  /// Reads an entry from the row; nullopt when it does not apply or its sizes are not \p wanted.
  template <class Wanted>
  std::optional<RankedRow> taken(Query& row, const Wanted& wanted);
  /// Also collects the stale rows, for the next step.
  void take_exact(const Sizes& sizes);
  /// Collects the results of the device that are the choices of their rules for the query's sizes. The stale ones wait
  /// for kStaleRule.
  void take_chosen();
  /// The choice of \p rule for the query's sizes.
  std::optional<RuleChoice> choice_of(const std::string& rule) const;
  /// Finds the groups by index, skipping from one to the next: the rows between are not read.
  void know_groups();
  void take_near(Query&& row);
  /// Whether \p sizes are between those of the query and \p most.
  bool is_between(const Sizes& sizes, const Sizes& most) const;
  /// Reads the rows of a cell; divides the cell first if it has many.
  void open(const GroupCell& at);
  /// The nearest results vote: the configuration with the most votes comes first.
  void elect();
  /// Whether a result for \p sizes applies to the query. A result for size 0 says nothing about other sizes.
  bool may_tell(const Sizes& sizes) const;
  /// Reads the record of an entry; nullopt when it is damaged or differs from the index that led to it. An index may be
  /// damaged while its table is sound.
  std::optional<Candidate> candidate(const RankedRow& entry);
  Step step_of(const BestRecord& best) const;

  Store& store_;
  const Context& query_;
  const Sizes& own_;
  const Rules rules_;
  std::optional<Step> step_;
  bool knows_nothing_ = false;  // about this kernel, objective and choices
  std::priority_queue<RankedRow> entries_;
  std::priority_queue<RankedRow> stale_;  // for kStale, kStaleAround or kStaleRule
  std::priority_queue<GroupCell> cells_;
  std::deque<std::vector<const Group*>> waiting_;
  bool known_groups_ = false;
  std::vector<Group> groups_;
  double reach_ = 0;  // of kClass: the distance of the last sizes of the class
  int voters_ = 0;
  int tried_ = 0;  // in this step
};

}  // namespace tuner::cache
