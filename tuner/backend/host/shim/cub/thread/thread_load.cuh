#pragma once
#include "../config.cuh"

namespace cub {

enum CacheLoadModifier { LOAD_DEFAULT, LOAD_CA, LOAD_CG, LOAD_CS, LOAD_CV, LOAD_LDG, LOAD_VOLATILE };

template <CacheLoadModifier modifier, typename Iterator>
inline auto ThreadLoad(Iterator at) {
  return *at;
}

}  // namespace cub
