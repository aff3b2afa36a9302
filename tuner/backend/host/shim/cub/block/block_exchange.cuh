#pragma once
#include "../tuner_cub.cuh"

namespace cub {

/// Moves items between threads. Blocked: the items of each thread are consecutive. Striped: item i of thread t has
/// number i * threads + t.
template <typename T, int dim_x, int items, bool = false, int dim_y = 1, int dim_z = 1, int = 0>
class BlockExchange {
  static constexpr int kThreads = dim_x * dim_y * dim_z;

 public:
  struct TempStorage {
    TunerValues<T, kThreads * items> values;
  };

  BlockExchange() : storage_(tuner_storage<TempStorage>()) {}
  BlockExchange(TempStorage& storage) : storage_(storage) {}

  template <typename U>
  void StripedToBlocked(const T (&input)[items], U (&output)[items]) {
    move(
        input, output, [](int i) { return i * kThreads + tuner_rank(); }, &blocked);
  }
  template <typename U>
  void BlockedToStriped(const T (&input)[items], U (&output)[items]) {
    move(input, output, &blocked, [](int i) { return i * kThreads + tuner_rank(); });
  }
  template <typename U>
  void WarpStripedToBlocked(const T (&input)[items], U (&output)[items]) {
    move(input, output, &warp_striped, &blocked);
  }
  template <typename U>
  void BlockedToWarpStriped(const T (&input)[items], U (&output)[items]) {
    move(input, output, &blocked, &warp_striped);
  }
  template <typename U, typename Rank>
  void ScatterToBlocked(const T (&input)[items], U (&output)[items], Rank (&ranks)[items]) {
    move(
        input, output, [&](int i) { return static_cast<int>(ranks[i]); }, &blocked);
  }
  template <typename U, typename Rank>
  void ScatterToStriped(const T (&input)[items], U (&output)[items], Rank (&ranks)[items]) {
    move(
        input, output, [&](int i) { return static_cast<int>(ranks[i]); },
        [](int i) { return i * kThreads + tuner_rank(); });
  }
  void StripedToBlocked(T (&both)[items]) { StripedToBlocked(both, both); }
  void BlockedToStriped(T (&both)[items]) { BlockedToStriped(both, both); }

 private:
  static int blocked(int i) { return tuner_rank() * items + i; }
  static int warp_striped(int i) { return tuner_rank() / 32 * 32 * items + i * 32 + tuner_rank() % 32; }

  template <typename U, typename From, typename To>
  void move(const T (&input)[items], U (&output)[items], From from, To to) {
    for (int i = 0; i < items; ++i) storage_.values[from(i)] = input[i];
    __syncthreads();
    for (int i = 0; i < items; ++i) output[i] = storage_.values[to(i)];
  }

  TempStorage& storage_;
};

}  // namespace cub
