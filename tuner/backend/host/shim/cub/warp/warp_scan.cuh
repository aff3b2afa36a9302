#pragma once
#include "../block/block_scan.cuh"

namespace cub {

template <typename T, int threads = 32, int = 0>
class WarpScan : public TunerScan<T, TunerWarp<threads>> {
  using Warp = TunerWarp<threads>;

 public:
  using TunerScan<T, Warp>::TunerScan;

  template <typename Operation>
  void Scan(T input, T& inclusive, T& exclusive, Operation operation) {
    T before, aggregate;
    const bool has_before = this->sum_before(input, operation, before, aggregate);
    inclusive = has_before ? static_cast<T>(operation(before, input)) : input;
    if (has_before) exclusive = before;
  }
  template <typename Operation>
  void Scan(T input, T& inclusive, T& exclusive, T initial, Operation operation) {
    this->ExclusiveScan(input, exclusive, initial, operation);
    inclusive = operation(exclusive, input);
  }
  T Broadcast(T input, unsigned source) {
    auto& values = this->storage_.values;
    values[Warp::rank()] = input;
    Warp::sync();
    const T result = values[static_cast<int>(source)];
    Warp::leave();
    return result;
  }
};

}  // namespace cub
