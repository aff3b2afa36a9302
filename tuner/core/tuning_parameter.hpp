#pragma once
/// A tuning parameter: a name and its ordered allowed values.

#include <string>
#include <vector>

#include <tuner/core/value.hpp>

namespace tuner {

struct TuningParameter {
  std::string name;
  std::vector<Value> values;  ///< at least one, without duplicates, in the author's order
};

}  // namespace tuner
