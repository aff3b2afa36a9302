#pragma once
/// CUB's collectives for blocks and warps. Those for devices launch kernels and belong to host code.
#include "block/block_exchange.cuh"
#include "block/block_load.cuh"
#include "block/block_radix_sort.cuh"
#include "block/block_reduce.cuh"
#include "block/block_scan.cuh"
#include "block/block_store.cuh"
#include "warp/warp_reduce.cuh"
#include "warp/warp_scan.cuh"
