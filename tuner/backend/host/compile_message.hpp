#pragma once
/// Turns what a C++ compiler says about a kernel into one sentence.

#include <string>

#include <tuner/backend/backend.hpp>

namespace tuner::host {

/// The first error of \p log with its place, or its cause if that is known. Known causes are a file that is missing,
/// tensor cores, a function of another file, and a brace that is not closed. Empty if \p log is. \p unit: the name of
/// the translation unit.
std::string failure_message(const CompileRequest& request, const std::string& log, const std::string& unit);

}  // namespace tuner::host
