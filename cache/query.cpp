#include <cache/query.hpp>

#include <limits>

namespace tuner::cache {

double Query::real() {
  const auto value = statement_.getColumn(column_++);
  return value.isNull() ? std::numeric_limits<double>::quiet_NaN() : value.getDouble();
}

std::string Query::text() {
  const auto value = statement_.getColumn(column_++);
  const auto* bytes = static_cast<const char*>(value.getBlob());
  return bytes == nullptr ? std::string() : std::string(bytes, static_cast<std::size_t>(value.getBytes()));
}

}  // namespace tuner::cache
