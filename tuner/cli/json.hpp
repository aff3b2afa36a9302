#pragma once
/// tuner's types as JSON for `--json` and logs. Times are nanoseconds in fields ending in `_ns`, seconds in `_s`.

#include <string>

#include <cache/json.hpp>

#include <tuner/core/configuration.hpp>
#include <tuner/core/device.hpp>
#include <tuner/core/outcome.hpp>
#include <tuner/core/problem_size.hpp>
#include <tuner/explain/verdict.hpp>
#include <tuner/measure/single_run.hpp>

namespace tuner {

// For conversions to Json.
void to_json(Json& json, const Value& value);
void to_json(Json& json, const Configuration& configuration);
void to_json(Json& json, const ProblemSize& size);
void to_json(Json& json, const Device& device);
void to_json(Json& json, const Resources& resources);
void to_json(Json& json, const Trial& trial);
void to_json(Json& json, const LaunchDetail& launch);
void to_json(Json& json, const Verdict& verdict);

}  // namespace tuner

namespace tuner::cli {

/// Adds what the result was compared with, unless \p reference is empty: then it was the reference of the kernel.
void add_reference(Json& object, const std::string& reference);
/// \p document and a line end, in ASCII: a terminal obeys none of it. Text that is not UTF-8 (compiler output) is
/// repaired. \p indent: -1 for one line.
std::string json_text(const Json& document, int indent = -1);
/// Writes \p document to stdout, in several lines.
void print_json(const Json& document);

}  // namespace tuner::cli
