#pragma once
/// Configurations that wait for the compiler, grouped into batches: several in one compile cost less than one by one.
/// A batch that fails is split until only the guilty configuration fails. Not thread-safe; knows no compiler.

#include <cstddef>
#include <deque>
#include <limits>
#include <span>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/core/configuration.hpp>

namespace tuner {

struct CompileJob {
  std::size_t id = 0;  ///< the caller's
  Configuration configuration;
  CompileRequest request;  ///< of this configuration alone
  double seconds = 0;      ///< compile time so far, its share of batches
  bool again = false;      ///< its compiler was killed from outside: this is its second try
};

class CompileQueue {
 public:
  void push(CompileJob job) { fresh_.push_back(std::move(job)); }
  bool empty() const { return fresh_.empty() && split_.empty(); }
  std::size_t size() const;

  /// The jobs of the next compile, oldest first: at most \p most, and no more than leaves some for each of
  /// \p workers. The first is one job, and every further one at most twice as many as the one before: the device shall
  /// soon have something to run. Jobs whose defines, options, macros or source differ never share a
  /// compile: those that may share the oldest's come before older ones that may not. Then all that this compile covers
  /// (below), whatever their number: they cost nothing. Empty when there are none.
  std::vector<CompileJob> take(std::size_t most, std::size_t workers);
  /// Forgets jobs of \p configurations.
  void withdraw(std::span<const Configuration> configurations);
  /// A compile of \p jobs did not end in time: no other has more than a half of that.
  void take_fewer_than(std::size_t jobs);
  /// Takes a failed batch of several programs back, in two halves that come next. Precondition: jobs.size() > 1.
  void split(std::vector<CompileJob> jobs);

 private:
  std::deque<CompileJob> fresh_;
  std::deque<std::vector<CompileJob>> split_;
  std::size_t limit_ = 1;
  std::size_t in_time_ = std::numeric_limits<std::size_t>::max();
};

/// Whether a compile of \p jobs makes all that \p request asks for: configurations that differ in kernel arguments or
/// launch shapes alone have one program. False where there are no jobs.
bool covers(std::span<const CompileJob> jobs, const CompileRequest& request);
/// Moves what the compile of \p jobs covers from \p waiting to them, but for second tries, which stay among themselves.
/// Precondition: at least one job.
void take_covered(std::deque<CompileJob>& waiting, std::vector<CompileJob>& jobs);
/// Whether \p jobs ask for the same: to compile a part of them would tell nothing new. Precondition: at least one job.
bool is_one_program(std::span<const CompileJob> jobs);

/// Configurations that one compile should have, at most, where \p compilers work side by side. Several share what each
/// program costs, and are known later: on many cores a search that learns does without.
std::size_t compile_batch(const DeviceKey& key, std::size_t compilers, bool search_learns);

/// Number of compilers among which waiting jobs are divided: \p all of them, or the \p idle ones where compilers take
/// their time from the device's cores. Fewer and larger batches cost less there.
std::size_t sharing_compilers(const DeviceKey& key, std::size_t all, std::size_t idle);

/// One request for all of \p jobs; expressions that several need appear once. Precondition: at least one job.
CompileRequest merge(std::span<const CompileJob> jobs);

}  // namespace tuner
