#pragma once
/// The results of a tuning, for people and for programs. Pure.

#include <tuner/cli/print/trial_tables.hpp>
#include <tuner/session/batch/stored_answer.hpp>

namespace tuner::cli {

/// `12.3 us  4.21 TB/s  87% of this device's copy rate  1.05 TFLOP/s`, as far as the kernel file gives traffic and
/// arithmetic. If memory is not the limit: `1.05 ms  43.3 TFLOP/s  (142 GB/s, 3.0% of this device's copy rate)`. A
/// short time includes much of the device's floor, and says so: `4.61 us, of which 3.00 us are a launch that does
/// nothing`.
std::string speed_text(const Subject& subject, double ns);
/// `device memory: it moves 4.1 TB/s, …`, with a remark if this is from the model and not from counters.
std::string limit_text(const Verdict& verdict);
/// speed_text() for programs: floor_ns, bytes_per_s, flops_per_s, ceiling_fraction and ceiling, as far as they are
/// known.
Json json_rates(const Subject& subject, double ns);

/// `not ok: 12 of 130 trials` and a line for each kind with its count and most frequent message; empty without any.
std::string failure_summary(const std::vector<Trial>& trials, const Style& style);
/// The end of the output: trials, times, ties, the database, and last the winner. \p below_table: best_table() is
/// printed above it.
std::string winner(const Subject& subject, const SessionResult& result, const std::string& database, const Style& style,
                   bool below_table = true);
/// The answer from the cache, in place of a result.
Answer known_answer(const Subject& subject, const StoredAnswer& known, const Style& style);

/// The same with Effort::none, if nothing is stored for exactly this: what calls are served with.
Answer unmeasured_answer(const Subject& subject, const StoredAnswer& known, const Style& style);

Json json_result(const Subject& subject, const SessionResult& result, const std::string& database);

}  // namespace tuner::cli
