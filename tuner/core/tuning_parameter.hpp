#pragma once
/// A tuning parameter: a name and its ordered allowed values.

#include <string>
#include <vector>

#include <tuner/core/value.hpp>

namespace tuner {

struct TuningParameter {
  std::string name;
  std::vector<Value> values;  ///< at least one, no duplicates, in the order the author gave (neighbours are adjacent)
};

}  // namespace tuner
