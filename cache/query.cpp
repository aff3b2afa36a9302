#include <cache/query.hpp>

#include <limits>

namespace tuner::cache {

double Query::real(int column) {
  const auto value = statement_.getColumn(column);
  return value.isNull() ? std::numeric_limits<double>::quiet_NaN() : value.getDouble();
}

std::string Query::text(int column) {
  const auto value = statement_.getColumn(column);
  const auto* bytes = static_cast<const char*>(value.getBlob());
  return bytes == nullptr ? std::string() : std::string(bytes, static_cast<std::size_t>(value.getBytes()));
}

}  // namespace tuner::cache
