#pragma once
#include "../config.cuh"

namespace cub {

enum CacheStoreModifier { STORE_DEFAULT, STORE_WB, STORE_CG, STORE_CS, STORE_WT, STORE_VOLATILE };

template <CacheStoreModifier modifier, typename Iterator, typename T>
inline void ThreadStore(Iterator at, T value) {
  *at = value;
}

}  // namespace cub
