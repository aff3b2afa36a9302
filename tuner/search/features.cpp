#include <tuner/search/features.hpp>

#include <algorithm>
#include <cmath>

namespace tuner::search {

Features::Features(const EnumeratedSpace& space) : space_(space) {
  for (std::size_t p = 0; p < space.parameters().size(); ++p) {
    const std::vector<Value>& values = space.parameters()[p].values;
    if (values.size() < 2) continue;
    std::int64_t low = 1;
    std::int64_t high = 0;
    bool sizes = true;
    for (const Value& value : values) {
      if (!value.is_integer() || value.integer() <= 0) {
        sizes = false;
        break;
      }
      low = &value == &values.front() ? value.integer() : std::min(low, value.integer());
      high = std::max(high, value.integer());
    }
    sizes = sizes && high >= 4 * low;
    std::vector<float> feature;
    for (std::size_t digit = 0; digit < values.size(); ++digit)
      feature.push_back(sizes ? static_cast<float>(std::log2(static_cast<double>(values[digit].integer())))
                              : static_cast<float>(digit));
    parameters_.push_back(p);
    values_.push_back(std::move(feature));
  }
}

}  // namespace tuner::search
