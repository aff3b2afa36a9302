#pragma once
#include "../block/block_reduce.cuh"

namespace cub {

/// The first lane of each (logical) warp gets the result.
template <typename T, int threads = 32, int = 0>
class WarpReduce : public TunerReduce<T, TunerWarp<threads>> {
  using Warp = TunerWarp<threads>;

 public:
  using TunerReduce<T, Warp>::TunerReduce;

  /// Combines the values from each head up to the next head. The heads get the results.
  template <typename Flag, typename Operation>
  T HeadSegmentedReduce(T input, Flag head, Operation operation) {
    const unsigned heads = __ballot_sync(Warp::mask(), static_cast<bool>(head)) >> Warp::first();
    return segmented(input, operation, [heads](int i) { return (heads >> i & 1u) != 0; });
  }
  /// Combines the values from the lane up to the next tail, and with it.
  template <typename Flag, typename Operation>
  T TailSegmentedReduce(T input, Flag tail, Operation operation) {
    const unsigned tails = __ballot_sync(Warp::mask(), static_cast<bool>(tail)) >> Warp::first();
    return segmented(input, operation, [tails](int i) { return (tails >> (i - 1) & 1u) != 0; });
  }
  template <typename Flag>
  T HeadSegmentedSum(T input, Flag head) {
    return HeadSegmentedReduce(input, head, cub::Sum());
  }
  template <typename Flag>
  T TailSegmentedSum(T input, Flag tail) {
    return TailSegmentedReduce(input, tail, cub::Sum());
  }

 private:
  template <typename Operation, typename Begins>
  T segmented(T input, Operation operation, Begins begins) {
    auto& values = this->storage_.values;
    values[Warp::rank()] = input;
    Warp::sync();
    T sum = input;
    for (int i = Warp::rank() + 1; i < threads && !begins(i); ++i) sum = operation(sum, values[i]);
    Warp::leave();
    return sum;
  }
};

}  // namespace cub
