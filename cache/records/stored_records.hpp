#pragma once
/// The records that the cache stores, as plain data: text, numbers and maps. The cache knows nothing else about kernels
/// and devices; callers convert from their own types. All times are nanoseconds of one run. All instants are
/// milliseconds since 1970 (UTC).

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace tuner::cache {

using Sizes = std::map<std::string, std::int64_t>;

/// One kind of device. \p key alone is the identity; the numbers let a lookup find similar devices.
struct DeviceRecord {
  std::string key;             ///< `cuda cc=9.0 sm=132 l2=62914560 bus=6144 smem=232448 regs=65536`
  std::string name;            ///< marketing name, for people only
  std::string backend;         ///< "cuda" or "host"
  int compute_capability = 0;  ///< 90 for 9.0
  int sm_count = 0;
  std::int64_t l2_bytes = 0;
  int memory_bus_bits = 0;
  std::int64_t max_shared_bytes = 0;
  int registers_per_sm = 0;
  std::string properties = "{}";  ///< a JSON object with anything else worth keeping
  friend bool operator==(const DeviceRecord&, const DeviceRecord&) = default;
};

/// The software of a measurement. A lookup compares \p driver and \p compiler; the rest is for people.
struct EnvironmentRecord {
  std::string driver;
  std::string compiler;
  std::string tuner;  ///< version of tuner
  std::string os;
  bool same_software(const EnvironmentRecord& other) const {
    return driver == other.driver && compiler == other.compiler;
  }
  /// Whether a result measured with \p then_driver and \p then_compiler is fresh in this environment. An environment
  /// without a compiler accepts results of any compiler.
  bool takes(std::string_view then_driver, std::string_view then_compiler) const {
    return driver == then_driver && (compiler.empty() || compiler == then_compiler);
  }
  friend bool operator==(const EnvironmentRecord&, const EnvironmentRecord&) = default;
  friend auto operator<=>(const EnvironmentRecord&, const EnvironmentRecord&) = default;
};

struct KernelRecord {
  std::string name;
  std::string source_hash;         ///< 64 hexadecimal digits: SHA-256 of the parts of the source that its owner counts
  std::string objective = "time";  ///< what was minimised
  friend bool operator==(const KernelRecord&, const KernelRecord&) = default;
  friend auto operator<=>(const KernelRecord&, const KernelRecord&) = default;
};

struct ProblemRecord {
  std::string choices;  ///< `T=float operation=sum`: must match exactly
  Sizes sizes;          ///< never negative; may match nearby ones
  friend bool operator==(const ProblemRecord&, const ProblemRecord&) = default;
  friend auto operator<=>(const ProblemRecord&, const ProblemRecord&) = default;
};

/// The words of \p text, with one blank between them; and the parts of a word `name=value`. Without `=` it is a name.
std::vector<std::string_view> words_of(std::string_view text);
std::pair<std::string_view, std::string_view> name_and_value(std::string_view word);

/// `n=4096 rows=2`, sorted by name; equal sizes have equal text.
std::string sizes_text(const Sizes& sizes);
/// Inverse of sizes_text(); nullopt for a text that sizes_text() does not write.
std::optional<Sizes> parse_sizes(const std::string& text);

/// Sum of |log2 ratio| over the sizes; 64 for a pair with exactly one 0. nullopt when the names differ.
std::optional<double> distance(const Sizes& a, const Sizes& b);
/// Whether a result for one problem is used for the other too: the choices are equal and each size is within a factor
/// of two. A size of 0 is like 0 only.
bool alike(const ProblemRecord& a, const ProblemRecord& b);

struct ResourceRecord {
  int registers = 0;  ///< per thread
  int spill_bytes = 0;
  int stack_bytes = 0;
  std::int64_t static_shared_bytes = 0;
  std::int64_t constant_bytes = 0;
  int blocks_per_sm = 0;
  double occupancy = 0;     ///< 0..1
  std::string target = {};  ///< for which the code was compiled: `sm_90a`; empty: unknown
  friend bool operator==(const ResourceRecord&, const ResourceRecord&) = default;
};

/// How long one run took.
struct TimeRecord {
  double median_ns = 0;
  double low_ns = 0;  ///< 95% interval of the median
  double high_ns = 0;
  double relative_noise = 0;
};

/// Metrics of a trial that was measured again as a finalist: its median in the search, and the interval of that.
inline constexpr const char* kSearchTimes[] = {"search_ns", "search_low_ns", "search_high_ns"};

/// A configuration and its outcome. Numbers that are not finite are stored as absent and read back as NaN.
struct TrialRecord : TimeRecord {
  std::string configuration;  ///< canonical text: `block_x=32 block_y=8`
  std::string kind = "ok";    ///< ok compile launch timeout wrong invalid
  std::string message;        ///< why it failed
  std::string log;            ///< compiler output of a compile failure
  std::vector<double> samples_ns;
  bool cold = true;
  bool throttled = false;
  bool converged = false;
  bool abandoned = false;
  bool verified = false;  ///< its output matched the reference
  double clock_mhz = 0;
  std::map<std::string, double> metrics;  ///< further objectives by name
  std::map<std::string, double> times_s;  ///< seconds spent on each step: compile, load, verify, measure, wait
  std::optional<ResourceRecord> resources;
  std::int64_t created_ms = 0;  ///< 0: the time when it is stored
};

/// What is tuned, and where.
struct Context {
  KernelRecord kernel;
  DeviceRecord device;
  EnvironmentRecord environment;
  ProblemRecord problem;
  /// Equal for the same problem on the same device with the same driver and compiler.
  auto identity() const {
    return std::make_tuple(kernel, problem, device.key, environment.driver, environment.compiler);
  }
};

struct SessionKey : Context {
  std::string conditions = "{}";  ///< JSON text: how it is measured (cold, targets); compared as text
  /// Equal for two runs of the same tuning: each may reuse the other's trials.
  auto identity() const { return std::tuple_cat(Context::identity(), std::make_tuple(conditions)); }
};

struct SessionRecord {
  SessionKey key;
  std::string uuid;
  std::string strategy;
  std::uint64_t seed = 0;
  std::string origin;  ///< who measured: "tune", "first use", a host name
  std::int64_t started_ms = 0;
  std::optional<std::int64_t> finished_ms;  ///< absent: the session was interrupted or still runs
  std::int64_t trials = 0;                  ///< stored so far; ignored when a session is written
  std::string spent = {};                   ///< a JSON object: what a finished session spent; empty: unknown
};

/// The current time, as records store it.
std::int64_t now_ms();
/// Converts milliseconds since 1970 to `2026-11-21T02:29:51.123Z`; the second function is the inverse.
std::string instant_text(std::int64_t ms);
std::optional<std::int64_t> parse_instant(const std::string& text);
/// A random (version 4) uuid.
std::string make_uuid();

/// The best known configuration for one (kernel, problem, device, environment).
struct BestRecord : Context, TimeRecord {
  std::string configuration;
  std::int64_t samples = 0;
  std::int64_t measured_ms = 0;
  std::string target = {};   ///< ResourceRecord::target of the measured code
  std::string checked = {};  ///< how it was checked besides its results: `host`, or `no: why`; empty: unknown
  std::string effort = {};   ///< a word for what its search spent; empty: unknown

  /// A rule that names a configuration for each size in a range, if this result is the choice of one. Only callers of
  /// the cache can read it; empty: none.
  std::string rule = {};
};

/// A configuration that crashed or hung the process that ran it for \p problem. Until the quarantine is lifted, it is
/// not tried, served or named best on that device for problems that are alike (see alike()).
struct QuarantineRecord {
  std::string device_key;
  KernelRecord kernel;
  ProblemRecord problem;
  std::string configuration;
  std::string reason;
  std::int64_t created_ms = 0;
};

/// Calls of a kernel that were served without a result for their problem.
struct MissRecord {
  KernelRecord kernel;    ///< with the source of the last calls
  ProblemRecord problem;  ///< of the first call
  Sizes sizes_from;       ///< the lowest sizes that are served alike; calls with the same ones are counted together
  std::string device_key;
  std::string file;    ///< a path, or the name of a kernel that comes with tuner; empty: the kernel has no file
  std::string served;  ///< how: name(Tier)
  std::int64_t calls = 0;
  double each_ns = 0;  ///< the shortest launch timed by the last process that timed any; NaN: none was timed
  std::int64_t first_ms = 0, last_ms = 0;

  /// Estimated time of all calls; 0 when unknown.
  double spent_ns() const { return each_ns > 0 ? each_ns * static_cast<double>(calls) : 0; }
};

}  // namespace tuner::cache
