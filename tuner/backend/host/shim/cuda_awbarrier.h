#pragma once
/// nvcuda::experimental::awbarrier (cuda_awbarrier.h of the CUDA toolkit), an earlier name of a barrier of a block.
#include "cuda/barrier"
#include "cuda_awbarrier_primitives.h"

namespace nvcuda::experimental {
using awbarrier = ::cuda::barrier<::cuda::thread_scope_block>;
}
