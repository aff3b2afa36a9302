#pragma once
#include "config.cuh"

namespace cub {

struct NullType {
  bool operator==(const NullType&) const { return true; }
  bool operator!=(const NullType&) const { return false; }
};

template <typename Key, typename Value>
struct KeyValuePair {
  using Key_ = Key;
  Key key;
  Value value;

  KeyValuePair() = default;
  KeyValuePair(const Key& k, const Value& v) : key(k), value(v) {}
  bool operator!=(const KeyValuePair& other) const { return key != other.key || value != other.value; }
};

}  // namespace cub
