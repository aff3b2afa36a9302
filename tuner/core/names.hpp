#pragma once
/// The names that a kernel's expressions may use, and what they stand for. Private to this room.

#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/expression_tree.hpp>
#include <tuner/core/kernel_spec.hpp>

namespace tuner {

enum class Parameters { allowed, refused };

/// Adds the device's limits under the names of docs/kernel-files.md.
void bind_device_limits(Bindings& bindings, const DeviceLimits& limits);
const std::vector<std::string>& device_limit_names();

/// Names for expressions of \p spec: sizes, choices, types, device limits and, unless refused, parameters.
KnownNames known_names(const KernelSpec& spec, Parameters parameters);

/// Why \p name cannot name a thing that expressions use (a keyword, a function, a type, a device limit); empty when
/// it can.
std::string name_problem(std::string_view name);

/// \p text with each word of \p values replaced by its value.
std::string substitute_words(std::string_view text, const std::map<std::string, std::string, std::less<>>& values);
/// The words of \p text, in order.
std::vector<std::string_view> words_of(std::string_view text);

/// Where the parts of a specification were written, by keys such as `block_x` or `default`.
using SpecPlaces = std::map<std::string, SourceLocation, std::less<>>;
void validate(const KernelSpec& spec, const SpecPlaces& places);

}  // namespace tuner
