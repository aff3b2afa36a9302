#pragma once
/// The inputs and results of a recorded launch, as measuring uses them. Other rooms use only number_text(), to write
/// recordings, and weaker_reference().

#include <cstdint>
#include <string>
#include <string_view>

#include <tuner/backend/backend.hpp>
#include <tuner/core/element_type.hpp>
#include <tuner/core/kernel_spec.hpp>
#include <tuner/measure/measure_options.hpp>

namespace tuner {

/// Text from which recorded_number() reads the same number. An integer has only digits. A floating-point number has a
/// point, an exponent, or letters (`inf`, `nan`).
std::string number_text(double value);
std::string number_text(std::int64_t value);
std::string number_text(std::uint64_t value);

/// The argument that \p text describes. Throws Error if it is not a number, or if \p type cannot hold it.
Argument recorded_number(ElementType type, std::string_view text);

/// Whether the results of the recorded launch are the expected outputs, because \p spec has no reference program.
bool answers(const KernelSpec& spec, const RecordedLaunch& recorded);
/// Like weaker_reference() of \p spec, but "recorded launch" if answers().
std::string weaker_reference(const KernelSpec& spec, const RecordedLaunch& recorded);

}  // namespace tuner
