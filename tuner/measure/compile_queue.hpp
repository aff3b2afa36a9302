#pragma once
/// Configurations that wait. For the compiler, they are grouped into batches: several in one compile cost less than one
/// by one. A batch that fails is split until only the faulty configuration fails. For the device, they are put in
/// order. Not thread-safe; calls no compiler.

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/core/values/configuration.hpp>

namespace tuner {

struct CompileJob {
  std::size_t id = 0;  ///< chosen by the caller
  Configuration configuration;
  CompileRequest request;  ///< for only this configuration
  double seconds = 0;      ///< compile time so far, including its share of batches
  bool again = false;      ///< second try, because something outside killed the compiler
};

class CompileQueue {
 public:
  void push(CompileJob job) { fresh_.push_back(std::move(job)); }
  bool empty() const { return fresh_.empty() && split_.empty(); }

  /// The jobs of the next compile, oldest first; empty if there are none. At most \p most, and few enough that each of
  /// \p workers gets some. The first compile has one job, and each further one at most twice as many as the one before,
  /// so that the device soon has something to run. All jobs have the same defines, options, macros and source as the
  /// oldest. All jobs that this compile covers (see covers()) are added: they cost nothing.
  std::vector<CompileJob> take(std::size_t most, std::size_t workers);
  /// Removes the jobs of \p configurations.
  void withdraw(std::span<const Configuration> configurations);
  /// Call it after a compile of \p jobs did not end in time: later ones have at most half as many.
  void take_fewer_than(std::size_t jobs);
  /// Puts a failed batch of several programs back, as two halves that come next. Precondition: jobs.size() > 1.
  void split(std::vector<CompileJob> jobs);

 private:
  std::deque<CompileJob> fresh_;
  std::deque<std::vector<CompileJob>> split_;
  std::size_t limit_ = 1;
  std::size_t in_time_ = std::numeric_limits<std::size_t>::max();
};

/// Whether a compile of \p jobs also compiles \p request: configurations that differ only in kernel arguments or in
/// launch shapes share a program. False if there are no jobs.
bool covers(std::span<const CompileJob> jobs, const CompileRequest& request);
/// Moves all jobs that the compile of \p jobs covers from \p waiting to \p jobs. First and second tries are never
/// mixed. Precondition: at least one job.
void take_covered(std::deque<CompileJob>& waiting, std::vector<CompileJob>& jobs);
/// Whether all \p jobs need the same program, so that splitting them is useless. Precondition: at least one job.
bool is_one_program(std::span<const CompileJob> jobs);

/// The largest number of configurations that one compile should have if \p compilers work in parallel. Configurations
/// of a batch share fixed costs, but their results come later: on many cores, a search that learns uses no batches.
std::size_t compile_batch(std::string_view backend, std::size_t compilers, bool search_learns);

/// The number of compilers among which waiting jobs are divided: usually \p all. If compilers run on the device's own
/// cores, where fewer and larger batches cost less, only the \p idle ones.
std::size_t sharing_compilers(std::string_view backend, std::size_t all, std::size_t idle);

/// One request for all \p jobs, with each expression once. Precondition: at least one job.
CompileRequest merge(std::span<const CompileJob> jobs);

/// Sorts \p line by \p order. Other jobs come last, in their old order. \p configuration_of returns that of a job.
template <typename Job, typename ConfigurationOf>
void put_in_order(std::deque<Job>& line, std::span<const Configuration> order, ConfigurationOf configuration_of) {
  std::map<Configuration, std::size_t> rank;
  for (std::size_t i = 0; i < order.size(); ++i) rank.emplace(order[i], i);
  const auto rank_of = [&](const Job& job) {
    const auto at = rank.find(std::invoke(configuration_of, job));
    return at == rank.end() ? order.size() : at->second;
  };
  std::ranges::stable_sort(line, [&](const Job& a, const Job& b) { return rank_of(a) < rank_of(b); });
}

/// Removes the jobs of \p configurations from \p line and returns them.
template <typename Job, typename ConfigurationOf>
std::vector<Job> take_out(std::deque<Job>& line, std::span<const Configuration> configurations,
                          ConfigurationOf configuration_of) {
  const auto stays = std::stable_partition(line.begin(), line.end(), [&](const Job& job) {
    return std::ranges::find(configurations, std::invoke(configuration_of, job)) == configurations.end();
  });
  std::vector<Job> taken(std::make_move_iterator(stays), std::make_move_iterator(line.end()));
  line.erase(stays, line.end());
  return taken;
}

}  // namespace tuner
