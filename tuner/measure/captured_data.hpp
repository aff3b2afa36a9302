#pragma once
/// What a captured launch was given and left, as measuring uses it. Internal to the measure room but for the text of
/// numbers, which the capture writes, and weaker_reference().

#include <cstdint>
#include <string>
#include <string_view>

#include <tuner/backend/backend.hpp>
#include <tuner/core/element_type.hpp>
#include <tuner/core/kernel_spec.hpp>
#include <tuner/measure/host_reference.hpp>
#include <tuner/measure/measure_options.hpp>

namespace tuner {

/// Text that captured_number() reads back to the same number: a floating one has a point, an exponent or is no number
/// of digits, an integer is digits alone.
std::string number_text(double value);
std::string number_text(std::int64_t value);
std::string number_text(std::uint64_t value);

/// What \p text stands for as an argument. Throws Error for what is no number and for one that \p type cannot hold.
Argument captured_number(ElementType type, std::string_view text);

/// Whether what the captured launch left is what is right: \p spec has no reference that goes with any inputs.
bool answers(const KernelSpec& spec, const CapturedData& captured);
/// As weaker_reference() of \p spec alone; "captured launch" where that answers().
std::string weaker_reference(const KernelSpec& spec, const CapturedData& captured);

/// Gives what the captured launch of \p options left as what is expected. Throws Error when called, for a file that
/// does not hold it.
HostReference captured_answers(const KernelSpec& spec, const MeasureOptions& options);

}  // namespace tuner
