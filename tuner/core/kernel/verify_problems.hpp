#pragma once
/// The problems on which each configuration is verified besides the problem that is tuned. The kernel file's `verify`
/// lines name them. If these lines name no sizes, tuner chooses more. A result is also used for other sizes, pointers
/// and scalars, so these have to be tried.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <tuner/core/device/device.hpp>
#include <tuner/core/values/configuration.hpp>
#include <tuner/core/values/problem_size.hpp>

namespace tuner {

struct BufferSpec;
struct KernelSpec;
struct RecordField;
struct ScalarSpec;

struct VerifyProblem {
  /// The buffers to which `offset` applies, counted among those that is_movable() says: a kernel may look at one
  /// pointer and load from others as well.
  enum class Moved { all, even, odd };

  ProblemSize size;
  std::int64_t offset = 0;                     ///< VerifySpec::offset
  std::map<std::string, double> scalars = {};  ///< instead of the values in the kernel file; of structs: number_name()
  enum class Chosen { by_file, size, offset, scalars };
  Chosen chosen = Chosen::by_file;  ///< if not by the file: what differs from the tuned problem
  Moved moved = Moved::all;

  bool is_own() const { return chosen != Chosen::by_file; }
  friend bool operator==(const VerifyProblem&, const VerifyProblem&) = default;
};

/// The shortest text from which the same number is read; an integer has no point.
std::string scalar_text(double number);
std::string scalar_text(float number);

/// Whether results of \p spec are for one value of \p scalar alone. Its line ends with `only`, or the reference does
/// not take it, or it is an integer or `bool` and no `verify` line names another value. A problem then names any other
/// value among its choices. A struct is never part of a problem.
bool is_part_of_problem(const KernelSpec& spec, const ScalarSpec& scalar, const ProblemSize& size);
/// Whether \p size has another value of a scalar than the kernel file.
bool has_other_scalars(const KernelSpec& spec, const ProblemSize& size);
/// Number \p i of \p field in the struct \p scalar: `p.scale`, `p.at[2]`.
std::string number_name(const ScalarSpec& scalar, const RecordField& field, int i);
/// The names of all numbers of \p scalar, a struct, without its pointers.
std::vector<std::string> number_names(const ScalarSpec& scalar);
/// Whether results of \p spec are for one value of number \p i of \p field in the struct \p scalar alone. Its line ends
/// with `only`, or the reference does not take the struct. Or it is an integer, and no `verify` line names another
/// value.
bool is_fixed(const KernelSpec& spec, const ScalarSpec& scalar, const RecordField& field, int i);
/// Whether tuner chooses sizes and pointers, because no `verify` line of \p spec names a size.
bool chooses_sizes(const KernelSpec& spec);

/// Whether tuner chooses problems or scalars for verifying \p spec, or counts a result for some scalars alone.
bool chooses_problems(const KernelSpec& spec);

/// Whether calls may pass a misaligned pointer for \p buffer.
bool is_movable(const BufferSpec& buffer);

/// The elements of all buffers that do not depend on parameters; a very large number if they cannot be counted.
std::size_t elements_of(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits);
/// \p size with smaller sizes and at most \p most elements. Each size keeps its remainder for some power of two,
/// because a kernel may depend on it. Sizes that are not in \p names stay. nullopt if there is none.
std::optional<ProblemSize> made_smaller(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                                        std::size_t most, const std::vector<std::string>& names);

/// The problems beside \p size, which is complete. Problems that tuner chooses meet all constraints on sizes, and the
/// reference can be launched for them. Their sizes are near to \p size, or to a smaller one if it is large. They are
/// each size one less, then two more, four more, primes in another order of sizes, and one element. Four more are added
/// to twice a small size. Where only multiples are valid, the nearest multiples. Scalars and misaligned pointers are
/// tried with odd and with even sizes, and pointers together and apart. Sizes that code is compiled for, and those of
/// buffers with contents from a file, stay as they are.
std::vector<VerifyProblem> verify_problems(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits);
/// The sizes of which the problems of tuner's choice among \p problems have another value than \p size.
std::set<std::string> varied_sizes(const std::vector<VerifyProblem>& problems, const ProblemSize& size);
/// The sizes whose other values cannot be verified, so that a result counts only for their values in \p size. Code is
/// compiled for them, a buffer has contents from a file, or only a file or a recording has the answers. Sizes that the
/// constraints fix are left out. Empty if `verify` lines name sizes.
std::vector<std::string> fixed_sizes(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits);
/// The limits of results for \p size, as sentences for people: the sizes and scalars for whose other values they are
/// not used.
std::vector<std::string> limits_of_results(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits);

/// If \p configuration is valid for no size of tuner's choice among \p all: the nearest sizes for which it is valid, at
/// most two. Precondition: \p configuration is valid for \p size.
std::vector<VerifyProblem> nearest_valid(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                                         const Configuration& configuration, const std::vector<VerifyProblem>& all);

}  // namespace tuner
